"""The clients offer the commands that the agent service has: none too few, and none that it refuses."""

from onechat_agent.sentences import HELP
from onechat_cli.domain.typed import COMMANDS, LEAVING
from onechat_telegram.domain.commands import MENU

TAKEN = {line.split()[0] for line in HELP.splitlines()}


def test_the_terminal_completes_every_command_and_its_own():
    """/image reads a file where the terminal is, and /quit leaves it: both are the terminal's alone."""
    offered = {command.split()[0] for command in COMMANDS}

    assert offered - LEAVING - {"/image"} == TAKEN


def test_the_telegram_menu_has_every_command():
    assert {f"/{name}" for name, _ in MENU} == TAKEN
