"""The machine's time zone, and what a setting may name."""

import pytest
from onechat_runtime.time_zone import machine_zone, zone_name


def test_tz_comes_first(tmp_path):
    assert machine_zone({"TZ": "Asia/Kathmandu"}, localtime=tmp_path, timezone=tmp_path) == "Asia/Kathmandu"


def test_tz_may_have_a_colon_before_its_name(tmp_path):
    assert machine_zone({"TZ": ":Asia/Tokyo"}, localtime=tmp_path, timezone=tmp_path) == "Asia/Tokyo"


def test_the_link_of_localtime_names_the_zone(tmp_path):
    link = tmp_path / "localtime"
    link.symlink_to("/usr/share/zoneinfo/Europe/Vienna")

    assert machine_zone({}, localtime=link, timezone=tmp_path / "none") == "Europe/Vienna"


def test_the_written_name_is_taken_where_localtime_is_a_copy(tmp_path):
    (tmp_path / "localtime").write_bytes(b"TZif")
    (tmp_path / "timezone").write_text("Europe/Paris\n")

    zone = machine_zone({}, localtime=tmp_path / "localtime", timezone=tmp_path / "timezone")

    assert zone == "Europe/Paris"


def test_what_is_no_iana_name_is_passed_over(tmp_path):
    """TZ may hold a POSIX rule, which names no zone with a history."""
    zone = machine_zone({"TZ": "CET-1CEST/../x"}, localtime=tmp_path / "no", timezone=tmp_path / "no")

    assert zone == "UTC"


def test_a_setting_takes_a_zone_by_its_name():
    assert zone_name("Asia/Kathmandu") == "Asia/Kathmandu"


@pytest.mark.parametrize(
    "name", ["Rome", "", "Europe", "../etc/passwd", "Europe/Rome\0", "/etc/localtime", "CET-1CEST"]
)
def test_a_setting_that_is_no_zone_says_what_to_write(name):
    with pytest.raises(ValueError, match="Europe/Rome"):
        zone_name(name)
