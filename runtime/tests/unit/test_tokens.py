"""A token for each caller, made once and never changed."""

import json
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest
from onechat_runtime.errors import StartRefused
from onechat_runtime.settings import ServiceSettings
from onechat_runtime.tokens import (
    CALLERS,
    Callers,
    current_caller,
    ensure_tokens,
    own_token,
    read_token,
)


def _files(folder):
    found = (folder / "tokens").iterdir()
    return {path.name: path.read_text() for path in found if not path.name.startswith(".")}


def test_every_caller_gets_its_own_token_and_servers_get_hashes(tmp_path):
    ensure_tokens(tmp_path)

    files = _files(tmp_path)
    listed = files.pop("callers.json")
    assert set(files) == set(CALLERS)
    assert len(set(files.values())) == len(CALLERS)
    assert set(json.loads(listed)) == set(CALLERS)
    assert not any(token.strip() in listed for token in files.values())


def test_tokens_are_for_this_user_alone(tmp_path):
    ensure_tokens(tmp_path)

    folder = tmp_path / "tokens"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_a_second_start_changes_nothing(tmp_path):
    ensure_tokens(tmp_path)
    before = _files(tmp_path)

    ensure_tokens(tmp_path)

    assert _files(tmp_path) == before


def test_a_missing_token_is_made_and_the_others_stay(tmp_path):
    ensure_tokens(tmp_path)
    before = _files(tmp_path)
    (tmp_path / "tokens" / "agent").unlink()

    ensure_tokens(tmp_path)

    after = _files(tmp_path)
    assert after["operator"] == before["operator"]
    assert after["agent"] != before["agent"]
    callers = Callers.from_file(tmp_path / "tokens" / "callers.json")
    assert callers.who(after["agent"].strip()) == "agent"
    assert callers.who(before["agent"].strip()) is None


def test_many_that_start_at_once_end_with_the_same_tokens(tmp_path):
    """Five services start together on an empty data folder."""

    def start(_):
        ensure_tokens(tmp_path)
        return _files(tmp_path)

    with ThreadPoolExecutor(8) as pool:
        seen = list(pool.map(start, range(24)))

    last = _files(tmp_path)
    assert set(last) == {*CALLERS, "callers.json"}
    tokens = [{name: files[name] for name in CALLERS} for files in seen]
    assert all(one == tokens[0] for one in tokens)
    callers = Callers.from_file(tmp_path / "tokens" / "callers.json")
    assert [callers.who(last[caller].strip()) for caller in CALLERS] == list(CALLERS)


def test_a_token_that_nobody_has_is_nobodys(tmp_path):
    ensure_tokens(tmp_path)
    callers = Callers.from_file(tmp_path / "tokens" / "callers.json")

    assert callers.who("") is None
    assert callers.who("größer 😀") is None


@pytest.mark.parametrize("text", ["", "\n", "two words\n", "größer\n"])
def test_a_file_without_one_token_is_refused_by_name(tmp_path, text):
    file = tmp_path / "token"
    file.write_text(text)

    with pytest.raises(StartRefused, match=str(file)):
        read_token(file)


def test_a_missing_token_file_and_a_broken_list_are_refused_by_name(tmp_path):
    broken = tmp_path / "callers.json"
    broken.write_text("[1]")

    with pytest.raises(StartRefused, match="ONECHAT_TOKEN_FILE"):
        read_token(tmp_path / "nothing")
    with pytest.raises(StartRefused, match=r"callers\.json"):
        Callers.from_file(broken)
    with pytest.raises(StartRefused, match="ONECHAT_CALLERS_FILE"):
        Callers.from_file(tmp_path / "nothing.json")


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff\xfe\x00", b"[" * 100_000])
def test_a_damaged_list_of_callers_is_written_anew(tmp_path, damage):
    """It holds nothing that the tokens beside it do not say."""
    ensure_tokens(tmp_path)
    listed = tmp_path / "tokens" / "callers.json"
    whole = listed.read_bytes()
    listed.write_bytes(damage)

    with pytest.raises(StartRefused):
        Callers.from_file(listed)
    ensure_tokens(tmp_path)

    assert listed.read_bytes() == whole


def test_settings_name_the_files_or_the_data_folder_has_them(tmp_path):
    made = ServiceSettings(data=tmp_path / "data", address="127.0.0.1:0")
    file = tmp_path / "token"
    file.write_text("of-my-own\n")
    named = ServiceSettings(data=tmp_path / "other", address="127.0.0.1:0", token_file=file)

    token = own_token(made, "telegram")

    assert Callers.of(made).who(token) == "telegram"
    assert own_token(named, "telegram") == "of-my-own"
    assert not (tmp_path / "other").exists()


def test_there_is_no_caller_outside_of_a_call():
    with pytest.raises(LookupError):
        current_caller()
