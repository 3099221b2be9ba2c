"""The command line of `onechat schedules`: its parts with their flags and examples.

What they do: commands/schedules.py.
"""

from typing import Final

from onechat_cli.subcommands import Commands, add_command, add_json, add_parts, whole_number

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
    add_json(schedules)
    parts = add_parts(schedules, required=False)
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
    add_json(listed, before_too=True)


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
        "--runs",
        type=whole_number(1, _RUNS_MAX),
        default=3,
        metavar="N",
        help=f"how many runs, up to {_RUNS_MAX} (default: 3)",
    )
    add_json(preview, before_too=True)


def _remove(parts: Commands) -> None:
    remove = add_command(
        parts,
        "remove",
        does="take a schedule away",
        description="Remove a schedule, and what was due of it and has not been handed over.",
        examples="  onechat schedules remove 3\n",
    )
    remove.add_argument(
        "id",
        type=whole_number(1, refused="no schedule's number"),
        metavar="ID",
        help="the schedule's number in the list",
    )
    add_json(remove, before_too=True)
