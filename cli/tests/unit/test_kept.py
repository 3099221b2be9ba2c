"""What the chat keeps between two runs."""

import stat
from datetime import UTC, datetime, timedelta

import pytest
from onechat_cli.chat.kept import Kept
from onechat_cli.domain.happening import Place
from onechat_cli.domain.typed import Typed
from onechat_runtime.errors import StartRefused

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)


def test_the_place_is_there_at_the_next_run(tmp_path):
    Kept(tmp_path).keep_place(Place(stream="s", number=12))

    assert Kept(tmp_path).place() == Place(stream="s", number=12)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"stream": "s"}', '{"stream": "s", "number": "x"}'])
def test_a_place_that_makes_no_sense_is_none(tmp_path, text):
    kept = Kept(tmp_path)
    (tmp_path / "cli" / "place.json").write_text(text)

    assert kept.place() is None


def test_unsent_messages_come_back_in_order_with_their_keys_until_forgotten(tmp_path):
    """The same key and body at every try, or the message would be taken twice."""
    first = Typed(key="cli:b", text="one\n\ud83d", time=NOW)
    second = Typed(key="cli:a", text="two", time=NOW + timedelta(seconds=1))
    kept = Kept(tmp_path)
    kept.keep(second)
    kept.keep(first)

    assert Kept(tmp_path).unsent() == [first, second]
    kept.forget(first)
    assert Kept(tmp_path).unsent() == [second]


def test_only_the_user_can_read_what_is_kept(tmp_path):
    kept = Kept(tmp_path)
    kept.keep(Typed(key="cli:a", text="secret", time=NOW))
    kept.keep_place(Place(stream="s", number=1))

    for path in (tmp_path / "cli").rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_a_folder_that_is_a_file_is_refused_in_one_line(tmp_path):
    (tmp_path / "cli").write_text("")

    with pytest.raises(StartRefused) as refused:
        Kept(tmp_path)

    assert len(str(refused.value).splitlines()) == 1
