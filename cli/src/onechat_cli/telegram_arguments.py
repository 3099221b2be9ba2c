"""The command line of `onechat telegram`: its parts with their flags and examples.

What they do: commands/telegram.py.
"""

import argparse

from onechat_cli.subcommands import Commands, add_command, add_json, add_parts


def add_telegram(commands: Commands) -> None:
    """Add `telegram` to `commands`; the chosen part is in `part`."""
    telegram = add_command(
        commands,
        "telegram",
        does="the Telegram groups that the bot is in",
        description=(
            "The groups that the bot is in: which ones are served, and how each is set. `onechat telegram\n"
            "PART --help` shows a part's flags. CHAT is a group's number, or a part of its title."
        ),
        examples=(
            "  onechat telegram groups\n  onechat telegram admit Garden\n"
            "  onechat telegram set Garden --detector hybrid --name robo\n"
            "  onechat telegram remove -1001234567890\n"
        ),
    )
    parts = add_parts(telegram, required=True)
    _groups(parts)
    _set(parts)
    _admit(parts)
    _remove(parts)


def _groups(parts: Commands) -> None:
    groups = add_command(
        parts,
        "groups",
        does="all of them, and how each is set",
        description=(
            "The groups that the bot is in, those too that await your yes, with their agents and settings.\n"
            "Add the bot to a group in Telegram; it asks you in your own chat with it."
        ),
        examples="  onechat telegram groups\n  onechat telegram groups --json | jq '.groups[].title'\n",
    )
    add_json(groups)


def _set(parts: Commands) -> None:
    changed = add_command(
        parts,
        "set",
        does="change how a group is set",
        description=(
            "Change a group's settings; what no flag names stays as it is. The detector says what is meant\n"
            "for the bot: simple by mentions, replies, commands and names; model by a small model call a\n"
            "message; hybrid by simple, and a call for what is unclear."
        ),
        examples=(
            "  onechat telegram set Garden --detector hybrid\n"
            "  onechat telegram set Garden --name robo --name 'robot*'\n"
            "  onechat telegram set -1001234567890 --learn off --private off\n"
        ),
    )
    _chat(changed)
    changed.add_argument(
        "--detector", choices=("simple", "model", "hybrid"), help="how it is judged what is meant for the bot"
    )
    names = changed.add_mutually_exclusive_group()
    names.add_argument(
        "--name",
        dest="names",
        action="append",
        metavar="NAME",
        help="listen for this name, in place of those before; * stands for any letters; may be given again",
    )
    names.add_argument(
        "--no-names", dest="names", action="store_const", const=[], help="listen for no name at all"
    )
    _switch(changed, "--ask-model", "whether hybrid may ask the model")
    _switch(changed, "--learn", "whether what is not meant for the bot is remembered")
    _switch(changed, "--private", "whether its members may write to the bot in private")
    add_json(changed)


def _admit(parts: Commands) -> None:
    admit = add_command(
        parts,
        "admit",
        does="serve a group",
        description="Serve a group: it gets an agent of its own, with a memory that its members share.",
        examples="  onechat telegram admit Garden\n  onechat telegram admit -1001234567890\n",
    )
    _chat(admit)
    add_json(admit)


def _remove(parts: Commands) -> None:
    remove = add_command(
        parts,
        "remove",
        does="leave a group",
        description="Leave a group. Its agent and its log are kept, for when it is admitted again.",
        examples="  onechat telegram remove Garden\n  onechat telegram remove -1001234567890\n",
    )
    _chat(remove)
    add_json(remove)


def _chat(part: argparse.ArgumentParser) -> None:
    part.add_argument(
        "chat", type=_named, metavar="CHAT", help="the group's number, its title, or a part of that"
    )


def _switch(part: argparse.ArgumentParser, flag: str, does: str) -> None:
    part.add_argument(flag, type=_on_or_off, metavar="on|off", help=does)


def _named(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("an empty text names no group")
    return text


def _on_or_off(text: str) -> bool:
    if text not in ("on", "off"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither on nor off")
    return text == "on"
