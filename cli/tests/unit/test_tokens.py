"""The token files of a deployment."""

import json
import os
import stat

import pytest
from onechat_cli.commands.tokens import make_tokens
from onechat_runtime.errors import StartRefused
from onechat_runtime.tokens import CALLERS, Callers


def test_each_caller_has_a_folder_of_its_own_and_the_list_knows_it(tmp_path):
    """In a deployment each folder is a volume; a container sees its own token and the hashes of all."""
    make_tokens(tmp_path, [])

    callers = Callers.from_file(tmp_path / "callers" / "callers.json")
    tokens = {name: (tmp_path / name / "token").read_text().strip() for name in CALLERS}
    assert {name: callers.who(token) for name, token in tokens.items()} == {name: name for name in CALLERS}
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*CALLERS, "callers"])


def test_a_token_that_is_there_never_changes(tmp_path):
    make_tokens(tmp_path, [])
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    make_tokens(tmp_path, [])

    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_missing_token_is_made_and_the_list_follows(tmp_path):
    make_tokens(tmp_path, [])
    (tmp_path / "agent" / "token").unlink()

    make_tokens(tmp_path, [])

    callers = Callers.from_file(tmp_path / "callers" / "callers.json")
    assert callers.who((tmp_path / "agent" / "token").read_text().strip()) == "agent"


def test_nobody_else_can_read_them(tmp_path):
    make_tokens(tmp_path, [("agent", os.getuid(), os.getgid())])

    for path in tmp_path.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_the_list_holds_no_token(tmp_path):
    make_tokens(tmp_path, [])

    listed = json.loads((tmp_path / "callers" / "callers.json").read_text())

    assert not {(tmp_path / name / "token").read_text().strip() for name in CALLERS} & set(listed.values())


def test_an_owner_of_a_name_that_is_nobodys_is_refused(tmp_path):
    with pytest.raises(StartRefused, match="nobody"):
        make_tokens(tmp_path, [("whoever", 1, 1)])
