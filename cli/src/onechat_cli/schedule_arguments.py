"""The command line of `onechat schedules`: its parts with their flags and examples.

What they do: commands/schedules.py.
"""

import argparse
from typing import Final

from onechat_cli.subcommands import Commands, add_command

_RUNS_MAX: Final = 100  # as many as the scheduler tells at once


def add_schedules(commands: Commands) -> None:
    """Add `schedules` to `commands`; the chosen part is in `part`, None for the list."""
    schedules = add_command(
        commands,
        "schedules",
        does="what the agents are to be reminded of, and when",
        description=(
            "All agents' schedules by their next time. They are set in the chat: ask for a reminder.\n"
            "`onechat schedules PART --help` shows a part's flags."
        ),
        examples=(
            "  onechat schedules\n  onechat schedules --json | jq '.schedules[].text'\n"
            "  onechat schedules preview '0 8 * * 1-5'\n  onechat schedules remove 3\n"
        ),
    )
    schedules.add_argument("--json", action="store_true", help="print it as JSON")
    parts = schedules.add_subparsers(dest="part", metavar="PART")
    _list(parts)
    _preview(parts)
    _remove(parts)


def _list(parts: Commands) -> None:
    listed = add_command(
        parts,
        "list",
        does="all of them, as without a part",
        description="All agents' schedules by their next time, in the time zone in which they were set.",
        examples="  onechat schedules list\n  onechat schedules list --json\n",
    )
    _json(listed)


def _preview(parts: Commands) -> None:
    preview = add_command(
        parts,
        "preview",
        does="when a schedule would run; saves nothing",
        description=(
            "The next runs at a time, YYYY-MM-DD HH:MM, or by a cron expression of five fields: minute,\n"
            "hour, day of month, month, day of week. Quote an expression, or the shell reads its stars."
        ),
        examples=(
            "  onechat schedules preview '0 8 * * 1-5'\n"
            "  onechat schedules preview --runs 10 '*/15 9-17 * * *'\n"
            "  onechat schedules preview 2027-01-05 18:00\n"
        ),
    )
    preview.add_argument("when", nargs="+", metavar="WHEN", help="a local time or a cron expression")
    preview.add_argument(
        "--runs", type=_runs, default=3, metavar="N", help=f"how many runs, up to {_RUNS_MAX} (default: 3)"
    )
    _json(preview)


def _remove(parts: Commands) -> None:
    remove = add_command(
        parts,
        "remove",
        does="take a schedule away",
        description="Remove a schedule, and what was due of it and has not been handed over.",
        examples="  onechat schedules remove 3\n",
    )
    remove.add_argument("id", type=_id, metavar="ID", help="the schedule's number in the list")
    _json(remove)


def _json(part: argparse.ArgumentParser) -> None:
    """`--json` after the part; SUPPRESS keeps one that stood before it."""
    part.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print it as JSON")


def _runs(text: str) -> int:
    number = _whole(text)
    if not 1 <= number <= _RUNS_MAX:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 to {_RUNS_MAX}")
    return number


def _id(text: str) -> int:
    number = _whole(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no schedule's number")
    return number


def _whole(text: str) -> int:
    """`text` as a number that a call can carry; 0 for anything else."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0
