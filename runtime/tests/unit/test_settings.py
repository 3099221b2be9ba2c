"""Settings: what a person gets wrong is said all at once, and secrets never show."""

import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from onechat_runtime.errors import StartRefused
from onechat_runtime.settings import (
    Secret,
    ServiceSettings,
    SettingsFaulty,
    address_of,
    described,
    load,
    one_of,
    overlaid,
    read_dotenv,
    secret,
    setting,
    whole_number,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CupSettings(ServiceSettings):
    address: str = address_of("memory")
    size: int = setting("CUP_SIZE", parse=whole_number(1, 9), default=3, doc="how many fit")
    kind: str = setting("CUP_KIND", parse=one_of("tea", "coffee"), doc="what is in it")
    key: Secret | None = secret("CUP_KEY", doc="opens it")


def test_what_is_not_set_has_its_default():
    settings = load(CupSettings, {"CUP_KIND": "tea"})

    assert (settings.size, settings.kind, settings.key) == (3, "tea", None)
    assert settings.data == Path("data")
    assert settings.address == "127.0.0.1:50052"
    assert settings.log_level == "info"


def test_an_empty_variable_counts_as_unset():
    settings = load(CupSettings, {"CUP_KIND": "tea", "CUP_SIZE": "", "ONECHAT_DATA": "", "CUP_KEY": ""})

    assert (settings.size, settings.data, settings.key) == (3, Path("data"), None)


def test_all_faults_are_said_at_once_each_with_its_variable():
    environ = {
        "CUP_SIZE": "twelve",
        "ONECHAT_LOG": "loud",
        "ONECHAT_MEMORY_ADDRESS": "nowhere",
        "CUP_KEY_FILE": "/nowhere/key",
    }

    with pytest.raises(SettingsFaulty) as raised:
        load(CupSettings, environ)

    assert [fault.split(" ")[0].rstrip(":") for fault in raised.value.faults] == [
        "ONECHAT_LOG",
        "ONECHAT_MEMORY_ADDRESS",
        "CUP_SIZE",
        "CUP_KIND",
        "CUP_KEY_FILE",
    ]
    assert "CUP_SIZE ('twelve'): write a whole number from 1 to 9" in raised.value.faults
    assert "CUP_KIND is not set: what is in it" in raised.value.faults
    assert str(raised.value).splitlines() == raised.value.faults


def test_a_fault_of_the_class_itself_is_said_like_any_other():
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Pair:
        least: int = setting("LEAST", parse=int, default=1, doc="")
        most: int = setting("MOST", parse=int, default=2, doc="")

        def __post_init__(self) -> None:
            if self.least > self.most:
                raise ValueError("LEAST must not be above MOST")

    with pytest.raises(SettingsFaulty, match="LEAST must not be above MOST"):
        load(Pair, {"LEAST": "5"})


def test_a_secret_comes_from_a_file_without_its_last_newline(tmp_path):
    file = tmp_path / "key"
    file.write_text("s3cret\n")

    settings = load(CupSettings, {"CUP_KIND": "tea", "CUP_KEY_FILE": str(file)})

    assert settings.key is not None
    assert settings.key.reveal() == "s3cret"


def test_an_empty_secret_file_counts_as_unset(tmp_path):
    file = tmp_path / "key"
    file.write_text("\n")

    assert load(CupSettings, {"CUP_KIND": "tea", "CUP_KEY_FILE": str(file)}).key is None


def test_a_secret_and_its_file_together_are_a_fault(tmp_path):
    with pytest.raises(SettingsFaulty, match="CUP_KEY and CUP_KEY_FILE are both set"):
        load(CupSettings, {"CUP_KIND": "tea", "CUP_KEY": "a", "CUP_KEY_FILE": str(tmp_path)})


def test_a_secret_shows_in_no_repr_and_no_fault():
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Picky:
        key: Secret | None = secret("KEY", doc="")

        def __post_init__(self) -> None:
            raise ValueError(f"{self.key} is too short")

    settings = load(CupSettings, {"CUP_KIND": "tea", "CUP_KEY": "s3cret"})
    with pytest.raises(SettingsFaulty) as raised:
        load(Picky, {"KEY": "s3cret"})

    assert "s3cret" not in repr(settings)
    assert "s3cret" not in str(raised.value)
    assert settings.key == Secret("s3cret")


def test_a_class_that_names_no_address_is_found_at_once():
    """Two services that listen where nobody told them would be found much later."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Forgetful(ServiceSettings):
        pass

    with pytest.raises(TypeError, match=re.escape("Forgetful.address")):
        load(Forgetful, {})


@pytest.mark.parametrize(
    "text", ["127.0.0.1:50051", "[::1]:1", "memory:50052", "unix:/run/memory.sock", "a:0"]
)
def test_an_address_is_host_and_port_or_a_socket(text):
    assert load(CupSettings, {"CUP_KIND": "tea", "ONECHAT_MEMORY_ADDRESS": text}).address == text


@pytest.mark.parametrize(
    "text", ["50051", ":50051", "host:", "host:abc", "host:65000", "unix:relative", "h:-1"]
)
def test_another_address_is_a_fault(text):
    with pytest.raises(SettingsFaulty, match="ONECHAT_MEMORY_ADDRESS"):
        load(CupSettings, {"CUP_KIND": "tea", "ONECHAT_MEMORY_ADDRESS": text})


def test_every_variable_is_described():
    found = {one.variable: one for one in described(CupSettings)}

    assert list(found) == [
        "ONECHAT_DATA",
        "ONECHAT_LOG",
        "ONECHAT_TOKEN_FILE",
        "ONECHAT_CALLERS_FILE",
        "ONECHAT_MEMORY_ADDRESS",
        "CUP_SIZE",
        "CUP_KIND",
        "CUP_KEY",
    ]
    assert all(one.doc for one in found.values())
    assert (found["CUP_SIZE"].default, found["CUP_KIND"].default) == ("3", None)
    assert [one.variable for one in found.values() if one.secret] == ["CUP_KEY"]


def test_a_field_with_a_plain_default_is_no_setting():
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Mixed:
        size: int = setting("SIZE", parse=int, default=1, doc="")
        made: list[str] = field(default_factory=list)

    assert load(Mixed, {"SIZE": "4"}) == Mixed(size=4, made=[])


def test_dotenv_is_read_as_it_stands(tmp_path):
    file = tmp_path / ".env"
    file.write_text("# a comment\n\nA=1\nexport B='two words'\nC=\"$A\"\nEMPTY=\n")

    assert read_dotenv(file) == {"A": "1", "B": "two words", "C": "$A", "EMPTY": ""}


def test_no_dotenv_is_no_fault(tmp_path):
    assert read_dotenv(tmp_path / ".env") == {}


@pytest.mark.parametrize(
    ("text", "line"),
    [("A=1\nB\n", 2), ("A=1\n\n\n= 4\n", 4), ('A="open\nB=2\n', 1), ("A=1\n# x\nB C=1\n", 3)],
)
def test_a_broken_dotenv_line_is_named(tmp_path, text, line):
    file = tmp_path / ".env"
    file.write_text(text)

    with pytest.raises(StartRefused, match=re.escape(f"{file}, line {line}:")):
        read_dotenv(file)


def test_a_dotenv_that_is_no_text_is_refused(tmp_path):
    file = tmp_path / ".env"
    file.write_bytes(b"A=\xff\xfe\n")

    with pytest.raises(StartRefused, match="not UTF-8"):
        read_dotenv(file)


def test_the_environment_wins_over_dotenv_however_a_secret_is_given():
    dotenv = {"A": "file", "KEY": "from .env", "OTHER_FILE": "/f", "B": "kept"}

    told = overlaid(dotenv, {"A": "environment", "KEY_FILE": "/run/key", "OTHER": "plain", "B": ""})

    assert told == {"A": "environment", "KEY_FILE": "/run/key", "OTHER": "plain", "B": "kept"}
