"""The shell as an ordinary user: nothing of a command outlives it, and no secret is in its reach."""

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from onechat_agent.tools.landlock import landlock_version

from tests.fakes.ordinary_user import NOBODY, interpreter, run_as_nobody

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user runs the other tests already")
KEY = "sk-secret-of-the-service"


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder of nobody's, in a place that everybody may pass."""
    if interpreter() is None:
        pytest.skip("no Python that nobody can run")
    folder = Path(tempfile.mkdtemp(dir="/tmp", prefix="onechat-user-"))  # pytest's own are root's alone
    (folder / "data").mkdir()
    (folder / "data" / "store.db").write_text("the store")
    (folder / ".env").write_text(f"OPENAI_API_KEY={KEY}")
    for path in (folder, *folder.rglob("*")):
        shutil.chown(path, NOBODY, NOBODY)
    yield folder
    shutil.rmtree(folder)


def left(mark: str) -> list[list[str]]:
    """Command lines of processes that carry the mark."""
    lines = [process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])]
    return [line for line in lines if any(mark in word for word in line)]


def test_nothing_of_a_command_is_left_whatever_it_tries(home: Path) -> None:
    mark = f"600.{secrets.randbelow(10**9):09}"
    commands = [
        f"sh -c 'sleep {mark} & echo hi'",
        f"setsid sleep {mark} & echo hi",
        f"(setsid sh -c 'setsid sleep {mark} & sleep {mark}' &) ; echo hi",
        f"(trap '' TERM HUP; exec sleep {mark}) & echo hi",
        f"kill -9 $PPID; sleep {mark}",
    ]

    found = run_as_nobody(home, commands, environ={}, landlock=False)

    assert [text for text, _ in found[:4]] == ["hi"] * 4
    assert "its exit status is not known" in found[4][0]
    assert max(seconds for _, seconds in found) < 10
    assert left(mark) == []


def test_at_its_limit_a_command_that_ignores_term_is_killed_and_its_output_kept(home: Path) -> None:
    mark = f"600.{secrets.randbelow(10**9):09}"
    command = f"trap '' TERM; echo so far; while :; do sleep {mark}; done"

    ((text, seconds),) = run_as_nobody(home, [command], environ={}, limit_s=1.2)

    assert text.startswith("so far\n(ended: it ran into its limit")
    assert seconds < 10
    assert left(mark) == []


def test_long_and_binary_output_is_clipped_and_named(home: Path) -> None:
    commands = ["echo first; yes | head -c 50000000; echo last", "head -c 300 /dev/urandom"]

    (long, _), (binary, _) = run_as_nobody(home, commands, environ={})

    assert long.startswith("first\ny\n")
    assert long.endswith("y\nlast")
    assert len(long) <= 30_000
    assert binary.startswith("(binary output: 300 bytes")


@pytest.mark.parametrize("landlock", [True, False])
def test_no_secret_of_the_service_is_in_environment_or_proc(home: Path, landlock: bool) -> None:
    """Also where the kernel has no Landlock: the service has made itself undumpable."""
    if landlock and not landlock_version():
        pytest.skip("this kernel has no Landlock")
    commands = [
        "env",
        "cat /proc/SERVICE/environ; head -c 1 /proc/SERVICE/mem; ls /proc/SERVICE/fd",
        "for p in /proc/[0-9]*; do tr '\\0' '\\n' < $p/environ; done 2>/dev/null",
        "id -u",
    ]

    found = run_as_nobody(home, commands, environ={"OPENAI_API_KEY": KEY}, landlock=landlock)

    texts = [text for text, _ in found]
    assert not [text for text in texts if KEY in text]
    assert texts[1].count("ermission denied") == 3
    assert texts[3] == str(NOBODY)


@pytest.mark.skipif(not landlock_version(), reason="this kernel has no Landlock")
def test_data_and_secret_files_are_out_of_reach_though_they_are_the_users_own(home: Path) -> None:
    commands = [
        *("cat data/store.db", "cat .env", "echo x > data/store.db", "rm -f .env", "mv data moved"),
        "ln -s data there && cat there/store.db",
        "mkdir -p work && echo fine > work/f && cat work/f",
    ]

    found = run_as_nobody(home, commands, environ={}, closed=("data", ".env"))

    texts = [text for text, _ in found]
    assert not [text for text in texts if KEY in text or "the store" in text]
    assert all("ermission denied" in text or "annot" in text for text in texts[:6])
    assert (home / "data" / "store.db").read_text() == "the store"
    assert (home / ".env").read_text() == f"OPENAI_API_KEY={KEY}"
