"""Tests that are spread over processes pass, fail and say the same as in one; no worker ends unnoticed."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
TESTS = """
import os, warnings
import pytest

@pytest.fixture(scope="session")
def late():
    yield
    raise ValueError("the end of the session failed")

@pytest.mark.parametrize("number", range(20))
def test_passes(number, tmp_path):
    print("nobody sees this")

def test_fails(tmp_path):
    print("said before it failed")
    warnings.warn("a careful word")
    assert [1, 2] == [1, 3]

def test_is_skipped():
    pytest.skip("no reason at all")

def test_dies():
    os._exit(3)

def test_stands_behind_one_that_dies(late):
    pass
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, str]:
    """The exit code of a run over two workers, and its output."""
    folder = tmp_path_factory.mktemp("spread")
    (folder / "test_some.py").write_text(TESTS)
    (folder / "pytest.ini").write_text(f"[pytest]\npythonpath = {REPOSITORY}\n")
    (folder / "conftest.py").write_text('pytest_plugins = ["tests.spread"]\n')
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "--workers", "2", "-ra", f"--basetemp={folder / 'kept'}"],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    return ended.returncode, ended.stdout


def test_every_test_runs_once_and_a_failure_fails_the_run(said: tuple[int, str]) -> None:
    code, output = said

    assert code == 1
    last = output.splitlines()[-1]
    assert re.findall(r"(\d+) (\w+)", last)[:4] == [
        ("3", "failed"),
        ("21", "passed"),
        ("1", "skipped"),
        ("1", "warning"),
    ]


def test_a_failure_is_told_with_all_that_it_said(said: tuple[int, str]) -> None:
    _, output = said

    for words in ("assert [1, 2] == [1, 3]", "At index 1 diff", "said before it failed", "a careful word"):
        assert words in output
    assert "nobody sees this" not in output
    assert "no reason at all" in output


def test_the_end_of_a_worker_is_a_failure_with_the_name_of_its_test(said: tuple[int, str]) -> None:
    _, output = said

    assert "FAILED test_some.py::test_dies - Its process ended with 3." in output


def test_what_fails_at_the_end_of_the_session_fails_the_run(said: tuple[int, str]) -> None:
    _, output = said

    assert "ValueError: the end of the session failed" in output
