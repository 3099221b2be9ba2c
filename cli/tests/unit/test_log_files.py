"""Logs that never grow past their files."""

import stat

from onechat_cli.up.log_files import RotatingLog


def written(folder, name="a.log"):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name.startswith(name)}


def test_a_full_file_moves_on_and_the_oldest_is_dropped(tmp_path):
    log = RotatingLog(tmp_path / "a.log", file_max=4, files=3)

    for line in (b"1\n", b"22\n", b"33\n", b"44\n", b"55\n"):
        log.write(line)

    assert written(tmp_path) == {"a.log": b"55\n", "a.log.1": b"44\n", "a.log.2": b"33\n"}


def test_a_line_is_never_split_over_two_files(tmp_path):
    """Output comes in pieces of any size."""
    log = RotatingLog(tmp_path / "a.log", file_max=6, files=2)

    log.write(b"one\nhal")
    log.write(b"f a line\nnext\n")

    assert written(tmp_path) == {"a.log": b"next\n", "a.log.1": b"half a line\n"}


def test_a_log_goes_on_after_a_restart_and_is_private(tmp_path):
    RotatingLog(tmp_path / "a.log").write(b"one\n")
    RotatingLog(tmp_path / "a.log").write(b"two\n")

    assert (tmp_path / "a.log").read_bytes() == b"one\ntwo\n"
    assert stat.S_IMODE((tmp_path / "a.log").stat().st_mode) == 0o600


def test_a_folder_that_is_gone_loses_lines_and_nothing_else(tmp_path):
    log = RotatingLog(tmp_path / "gone" / "a.log")

    log.write(b"lost\n")
    (tmp_path / "gone").mkdir()
    log.write(b"kept\n")

    assert (tmp_path / "gone" / "a.log").read_bytes() == b"kept\n"
