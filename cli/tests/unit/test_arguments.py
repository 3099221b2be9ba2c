"""The command line."""

import subprocess
import sys
from pathlib import Path

import pytest
from onechat_cli.arguments import parser

COMMANDS = ("chat", "send", "up", "status", "usage", "memory", "schedules", "telegram", "whatsapp", "tokens")
PARTS = (
    *(("memory", part) for part in ("view", "zoom", "search", "export", "stats")),
    *(("schedules", part) for part in ("list", "preview", "remove")),
    *(("telegram", part) for part in ("groups", "set", "admit", "remove")),
    ("whatsapp", "status"),
)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_each_command_shows_examples(command, capsys):
    with pytest.raises(SystemExit) as ended:
        parser().parse_args([command, "--help"])

    assert ended.value.code == 0
    assert f"examples:\n  onechat {command}" in capsys.readouterr().out.replace(
        "ONECHAT_DATA=/srv/onechat ", ""
    )


@pytest.mark.parametrize(("command", "part"), PARTS)
def test_the_help_of_each_part_of_a_command_shows_examples(command, part, capsys):
    with pytest.raises(SystemExit) as ended:
        parser().parse_args([command, part, "--help"])

    assert ended.value.code == 0
    assert f"examples:\n  onechat {command} {part}" in capsys.readouterr().out


@pytest.mark.parametrize(
    "line",
    [
        [],
        ["nonsense"],
        ["send"],
        ["send", "--timeout", "0", "hi"],
        ["send", "--timeout", "nan", "hi"],
        ["usage", "--since", "yesterday"],
        ["tokens", "/x", "--owner", "agent"],
        ["memory"],
        ["memory", "forget"],
        ["memory", "view", "--log", "a", "--agent", "b"],
        ["memory", "zoom", "40+"],
        ["memory", "zoom", "40", "--page", "-1"],
        ["memory", "search"],
        ["memory", "search", "x", "--most", "0"],
        ["memory", "export", "--from", "first"],
        ["memory", "export", "--to", "-1"],
        ["whatsapp"],
        ["whatsapp", "pair", "+39 333 123 4567"],
        ["schedules", "set"],
        ["schedules", "preview"],
        ["schedules", "preview", "--runs", "0", "0 8 * * *"],
        ["schedules", "preview", "--runs", "101", "0 8 * * *"],
        ["schedules", "remove"],
        ["schedules", "remove", "0"],
        ["schedules", "remove", "9" * 19],
        ["schedules", "remove", "9" * 5_000],
        ["telegram"],
        ["telegram", "groups", "Garden"],
        ["telegram", "set"],
        ["telegram", "set", "Garden", "--detector", "clever"],
        ["telegram", "set", "Garden", "--learn", "perhaps"],
        ["telegram", "set", "Garden", "--name", "x", "--no-names"],
        ["telegram", "admit", " "],
        ["telegram", "remove"],
    ],
)
def test_bad_usage_ends_with_2_and_nothing_on_stdout(line, capsys):
    with pytest.raises(SystemExit) as ended:
        parser().parse_args(line)

    assert ended.value.code == 2
    assert capsys.readouterr().out == ""


def test_json_counts_wherever_it_stands_among_the_parts_of_a_command():
    for line in (["schedules", "--json"], ["schedules", "--json", "list"], ["schedules", "list", "--json"]):
        assert parser().parse_args(line).json is True
    for line in (
        ["schedules"],
        ["schedules", "list"],
        ["memory", "view"],
        ["telegram", "groups"],
        ["status"],
    ):
        assert parser().parse_args(line).json is False


def test_a_number_is_read_from_its_digits_alone(capsys):
    """Whatever else Python takes for a number would be sent as one that nobody wrote."""
    assert parser().parse_args(["memory", "search", "x", "--most", "007"]).most == 7

    for text in ("1_0", "+1", "1.0", "١", " 1", "1e3", "0x1", "1000000"):
        with pytest.raises(SystemExit):
            parser().parse_args(["memory", "search", "x", "--most", text])
        assert f"{text!r} is no number from 1 to 999999" in capsys.readouterr().err


def test_help_loads_nothing_that_it_does_not_need():
    """`onechat --help` answers at once; gRPC and the terminal library take a second."""
    code = (
        "import sys\nfrom onechat_cli.__main__ import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print('loaded', {'grpc', 'prompt_toolkit', 'asyncio', 'onechat_runtime'} & set(sys.modules))"
    )

    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert answer.stdout.splitlines()[-1] == "loaded set()"


def test_owners_are_read_with_their_group():
    chosen = parser().parse_args(["tokens", "d", "--owner", "agent=5", "--owner", "callers=6:7"])

    assert chosen.folder == Path("d")
    assert chosen.owner == [("agent", 5, 5), ("callers", 6, 7)]


def test_every_command_runs_with_what_it_must_have_alone():
    """A default that its own type refuses shows only when the flag is left out."""
    for line in (
        ["chat"],
        ["send", "hi"],
        ["up"],
        ["status"],
        ["usage"],
        ["tokens", "d"],
        ["memory", "view"],
        ["schedules"],
        ["schedules", "preview", "0 8 * * *"],
        ["telegram", "groups"],
        ["telegram", "set", "Garden"],
        ["telegram", "admit", "-1001234567890"],
    ):
        assert parser().parse_args(line).command == line[0]
