"""How a command ends: its exit code."""

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes."""

    OK = 0
    WRONG = 1  #: something is wrong, or there was no answer
    REFUSED = 2  #: bad usage, or a start that cannot work
    INTERRUPTED = 130  #: Ctrl-C, as shells say it


class CommandFailed(Exception):
    """A command that ends with code 1. Its text is one line for a person: what is wrong and what to do."""
