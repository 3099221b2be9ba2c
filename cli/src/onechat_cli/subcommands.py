"""How a command, or a part of one, stands in the command line: what it does, and examples under its help."""

import argparse
from typing import TypeAlias

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


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
