"""The command line: every command with its flags and examples. What a command does: commands/.

The parts of `onechat memory`: memory_arguments.py; of `onechat schedules`: schedule_arguments.py; of
`onechat telegram`: telegram_arguments.py; of `onechat whatsapp`: whatsapp_arguments.py.
"""

import argparse
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from onechat_cli.memory_arguments import add_memory
from onechat_cli.schedule_arguments import add_schedules
from onechat_cli.subcommands import Commands, add_command, add_json
from onechat_cli.telegram_arguments import add_telegram
from onechat_cli.whatsapp_arguments import add_whatsapp

_EXIT_CODES: Final = """exit codes:
  0  all is well
  1  something is wrong, or there was no answer
  2  bad usage, or a start that cannot work
"""


def parser() -> argparse.ArgumentParser:
    """The parser of `onechat`; the chosen command is in `command`."""
    top = argparse.ArgumentParser(
        prog="onechat",
        description="A personal AI agent in one chat that never ends.",
        epilog="`onechat COMMAND --help` shows examples.\n\n" + _EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"onechat {_version()}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _chat(commands)
    _send(commands)
    _up(commands)
    _status(commands)
    _usage(commands)
    add_memory(commands)
    add_schedules(commands)
    add_telegram(commands)
    add_whatsapp(commands)
    _tokens(commands)
    return top


def _chat(commands: Commands) -> None:
    chat = add_command(
        commands,
        "chat",
        does="the terminal chat",
        description=(
            "Open the chat. Enter sends; Alt-Enter or Ctrl-J begins a new line; / shows commands;\n"
            "Ctrl-C ends the turn at work; Ctrl-D or /quit leaves. What happens meanwhile is shown\n"
            "the next time. Without a terminal each line of the input is a message, and its reply\n"
            "is printed."
        ),
        examples="  onechat chat\n  onechat chat --up\n  printf 'hello\\nand again\\n' | onechat chat\n",
    )
    chat.add_argument(
        "--up", action="store_true", help="start the services first if none run, and end them on leaving"
    )
    chat.add_argument("--demo", action="store_true", help="with --up: answer with the built-in demo model")


def _send(commands: Commands) -> None:
    send = add_command(
        commands,
        "send",
        does="one message, and its reply",
        description="Send one message, wait for the reply and print it. - reads the message from the input.",
        examples=(
            "  onechat send 'what is on today?'\n  git diff | onechat send -\n"
            "  onechat send --json --timeout 120 hello | jq -r .reply\n"
            "  onechat send --image boiler.jpg 'what is wrong with it?'\n"
        ),
    )
    send.add_argument("text", metavar="TEXT", help="the message, or - for the input")
    send.add_argument(
        "--image",
        action="append",
        default=[],
        metavar="FILE",
        help="a picture to send with it (PNG, JPEG, WebP, GIF; up to 20 MB); may be given again",
    )
    add_json(send, "print reply, key, agent and turn as JSON")
    send.add_argument(
        "--timeout",
        type=_seconds,
        default=3600.0,
        metavar="SECONDS",
        help="how long to wait for the reply, an hour unless given; it is answered all the same",
    )


def _up(commands: Commands) -> None:
    up = add_command(
        commands,
        "up",
        does="run the five services on this machine",
        description=(
            "Run the five services until Ctrl-C or SIGTERM. They end with this process, however it\n"
            "ends; one that dies is started again. Logs: DATA/logs."
        ),
        examples="  onechat up\n  onechat up --demo\n  ONECHAT_DATA=/srv/onechat onechat up\n",
    )
    up.add_argument(
        "--demo", action="store_true", help="answer with the built-in demo model, even with a key"
    )


def _status(commands: Commands) -> None:
    status = add_command(
        commands,
        "status",
        does="what runs, and what is wrong",
        description=(
            "Each service's health and version, links, queues, agents, memory. Exit code 1 when a\n"
            "service or a store is in trouble, something was set aside, or a link is lost."
        ),
        examples="  onechat status\n  onechat status --json | jq .wrong\n",
    )
    add_json(status)


def _usage(commands: Commands) -> None:
    usage = add_command(
        commands,
        "usage",
        does="model calls, tokens, cost",
        description="Model calls by day, agent, purpose and model: tokens, the share read from cache, cost.",
        examples="  onechat usage\n  onechat usage --since 2026-11-01\n  onechat usage --json | jq .usage\n",
    )
    usage.add_argument(
        "--since",
        type=_day,
        metavar="DAY",
        default=None,
        help="the first day, YYYY-MM-DD (default: 30 days ago)",
    )
    add_json(usage)


def _tokens(commands: Commands) -> None:
    tokens = add_command(
        commands,
        "tokens",
        does="make the token files of a deployment",
        description=(
            "Make DIR/CALLER/token for each caller and DIR/callers/callers.json with their hashes, 0600.\n"
            "What is there is kept. `onechat up` makes its own tokens in the data folder."
        ),
        examples="  onechat tokens /tokens\n  onechat tokens /tokens --owner agent=1000:1000\n",
    )
    tokens.add_argument("folder", type=Path, metavar="DIR", help="the folder, made if it is missing")
    tokens.add_argument(
        "--owner",
        action="append",
        type=_owner,
        default=[],
        metavar="NAME=UID[:GID]",
        help="who owns NAME's files: a caller, or callers; needs the right to give files away",
    )


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e9:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return seconds


def _day(text: str) -> str:
    from datetime import date

    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no day; write YYYY-MM-DD") from None


def _owner(text: str) -> tuple[str, int, int]:
    found = re.fullmatch(r"([a-z]+)=(\d{1,9})(?::(\d{1,9}))?", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=UID or NAME=UID:GID")
    return found[1], int(found[2]), int(found[3] or found[2])


def _version() -> str:
    try:
        return version("onechat-cli")
    except PackageNotFoundError:
        return "of unknown version"
