"""The command line of `onechat memory`: its parts with their flags and examples.

What they do: commands/memory.py, commands/memory_search.py, commands/memory_export.py.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Final

from onechat_cli.subcommands import Commands, add_command, add_json, add_parts, whole_number

if TYPE_CHECKING:
    from onechat_cli.domain.remembered import LineName

_NUMBER: Final = whole_number(refused="no message's number")


def add_memory(commands: Commands) -> None:
    """Add `memory` to `commands`; the chosen part is in `part`."""
    memory = add_command(
        commands,
        "memory",
        does="browse, search and export what is remembered",
        description=(
            "Read a log: the root's, unless --log or --agent names another one. `onechat memory PART\n"
            "--help` shows a part's flags."
        ),
        examples=(
            "  onechat memory view\n  onechat memory zoom 40+8\n  onechat memory search dentist\n"
            "  onechat memory export chat.jsonl\n  onechat memory stats --all\n"
        ),
    )
    parts = add_parts(memory, required=True)
    _view(parts)
    _zoom(parts)
    _search(parts)
    _export(parts)
    _stats(parts)


def _which(part: argparse.ArgumentParser, *, json_is: str = "print it as JSON") -> None:
    named = part.add_mutually_exclusive_group()
    named.add_argument("--log", metavar="ID", help="the log of this id; also a kept, staged or flat one")
    named.add_argument("--agent", metavar="NAME", help="the log of the agent called so")
    add_json(part, json_is)


def _view(parts: Commands) -> None:
    view = add_command(
        parts,
        "view",
        does="the chat as the agent sees it",
        description=(
            "The view as it stands: a line for each message of late, for 2, 4, 8 … of earlier ones.\n"
            "40+8 stands for eight messages from number 40 on."
        ),
        examples="  onechat memory view\n  onechat memory view --agent House | less\n",
    )
    _which(view)


def _zoom(parts: Commands) -> None:
    zoom = add_command(
        parts,
        "zoom",
        does="what stands below a line, or a message whole",
        description="The two lines below a line, or a message whole. Without LINE a whole log, in pages.",
        examples=(
            "  onechat memory zoom 40+8\n  onechat memory zoom 40\n"
            "  onechat memory zoom --log ID --page 120\n"
        ),
    )
    zoom.add_argument(
        "line",
        nargs="?",
        type=_line,
        default="0+0",
        metavar="LINE",
        help="a line's name as the view shows it, such as 40+8; 40 is message 40",
    )
    zoom.add_argument("--page", type=_NUMBER, metavar="ID", help="the page that begins at this message")
    _which(zoom)


def _search(parts: Commands) -> None:
    search = add_command(
        parts,
        "search",
        does="messages by words, newest first",
        description=(
            "Messages that hold all the words, whatever their case and accents; word* is any word that\n"
            "begins so."
        ),
        examples=(
            "  onechat memory search dentist\n  onechat memory search 'garden*' fence --most 100\n"
            "  onechat memory search --json dentist | jq -r '.messages[].text'\n"
        ),
    )
    search.add_argument("words", nargs="+", metavar="WORD", help="what must occur")
    search.add_argument(
        "--most",
        type=whole_number(1, 999_999),
        default=20,
        metavar="N",
        help="how many messages at most (default: 20)",
    )
    _which(search)


def _export(parts: Commands) -> None:
    export = add_command(
        parts,
        "export",
        does="all messages as JSON lines",
        description=(
            "Write a log as JSON, one message a line, oldest first, with every field; times are UTC.\n"
            "The file is readable by you alone, and is there once it is whole."
        ),
        examples=(
            "  onechat memory export chat.jsonl\n  onechat memory export | gzip > chat.jsonl.gz\n"
            "  onechat memory export --from 1000 --to 1999 part.jsonl\n"
        ),
    )
    export.add_argument(
        "file", nargs="?", type=Path, default=Path("-"), metavar="FILE", help="where to (default: stdout)"
    )
    export.add_argument(
        "--from", dest="first", type=_NUMBER, default=0, metavar="ID", help="the first message (default: 0)"
    )
    export.add_argument(
        "--to", dest="last", type=_NUMBER, metavar="ID", help="the last message (default: the newest)"
    )
    export.add_argument("--force", action="store_true", help="replace FILE if it is there")
    _which(export, json_is="as it is anyway")


def _stats(parts: Commands) -> None:
    stats = add_command(
        parts,
        "stats",
        does="how far a log is, and what its lines have cost",
        description="Messages, lines, views, batches, model calls per line. With --all what logs there are.",
        examples="  onechat memory stats\n  onechat memory stats --all\n  onechat memory stats --json\n",
    )
    stats.add_argument("--all", action="store_true", help="a table of all logs instead")
    _which(stats)


def _line(text: str) -> "LineName":
    from onechat_cli.domain.remembered import line_name

    try:
        return line_name(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no line; write 40+8 for a line, or 40 for a message"
        ) from None
