"""How a command, or a part of one, stands in the command line: what it does, its examples, `--json`, numbers.

What each command has beyond that: arguments.py, and a room for each command that has parts.
"""

import argparse
from collections.abc import Callable
from typing import Final, TypeAlias

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

LARGEST: Final = 10**18 - 1  #: the largest number that is read; every integer of a call holds it


def add_command(
    commands: Commands, name: str, *, does: str, description: str, examples: str
) -> argparse.ArgumentParser:
    """The parser of a new command, whose flags its caller adds."""
    return commands.add_parser(
        name,
        help=does,
        description=description,
        epilog=f"examples:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def add_parts(command: argparse.ArgumentParser, *, required: bool) -> Commands:
    """Where the parts of `command` are added; the chosen one is in `part`, None for none."""
    return command.add_subparsers(dest="part", metavar="PART", required=required)


def add_json(
    parser: argparse.ArgumentParser, does: str = "print it as JSON", *, before_too: bool = False
) -> None:
    """Add `--json`, which is `json`; with `before_too` the same flag of the whole command counts as well."""
    default = argparse.SUPPRESS if before_too else False
    parser.add_argument("--json", action="store_true", default=default, help=does)


def whole_number(least: int = 0, most: int = LARGEST, *, refused: str | None = None) -> Callable[[str], int]:
    """Reads a number from `least` to `most` in decimal digits; says of anything else that it is `refused`."""
    wrong = refused or f"no number from {least} to {most}"

    def read(text: str) -> int:
        written = text.isascii() and text.isdecimal() and len(text) <= len(str(LARGEST))
        number = int(text) if written else -1
        if not max(least, 0) <= number <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is {wrong}")
        return number

    return read
