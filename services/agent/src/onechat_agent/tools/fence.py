"""What no tool of an agent may read or write: the services' stores and the secret files.

The file tools ask the fence before they touch a path; the shell is kept out by the kernel (landlock.py).
Which paths need the user's consent is another question: `is_rule` answers it for instructions.md and
agent.toml.
"""

import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

_RULES = ("agent.toml", "instructions.md")
_OF_A_PROCESS = re.compile(r"/proc/(\d+|self|thread-self)(/|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """Closed paths, and what is open inside them. Paths need not exist."""

    closed: tuple[Path, ...]  #: data folders, token files, .env: with all that is beneath
    agent_folders: tuple[
        Path, ...
    ] = ()  #: where instructions.md and agent.toml lie; open, also within a closed one

    def refuses(self, real: Path) -> bool:
        """Whether `real`, a path without symbolic links, is beyond the fence.

        Paths are compared by identity too, so that another spelling, a bind mount or a hard link of a closed
        file does not help. /proc/PID tells the environment and the open files of processes, of services too.
        """
        if _OF_A_PROCESS.match(str(real)):
            return True
        closed = {_real(path) for path in self.closed}
        opened = {_real(path) for path in self.agent_folders}
        closed_ids = {identity for path in closed if (identity := _identity(path)) is not None}
        opened_ids = {identity for path in opened if (identity := _identity(path)) is not None}
        for at in (real, *real.parents):
            identity = _identity(at)
            if at in opened or identity in opened_ids:
                return False
            if at in closed or identity in closed_ids:
                return True
        return False


def is_rule(target: Path, protected: Collection[Path], agents: Path | None) -> bool:
    """Whether a change of `target` would change what an agent, any of them, is told or allowed.

    `protected`: the caller's own files. `agents`: the folder of all agents' folders, where a new one would be
    another agent at the next start, or without an agent.toml end that start.
    """
    if any(same_file(target, file) for file in protected):
        return True
    if agents is None:
        return False
    real = _real(target)
    folder = next((at for at in real.parents if _identity(at.parent) == _identity(agents) is not None), None)
    if folder is not None and (_identity(folder) is None or (folder == real.parent and _is_rules_name(real))):
        return True
    try:
        files = [folder / name for folder in agents.iterdir() for name in _RULES]
    except OSError:
        return False
    return any(same_file(target, file) for file in files)


def _is_rules_name(path: Path) -> bool:
    return path.name.lower() in _RULES


def same_file(one: Path, other: Path) -> bool:
    """Whether both lead to one file, through links and other spellings, also when it does not exist yet."""
    one, other = _real(one), _real(other)
    if one == other:
        return True
    identity = _identity(one)
    if identity is not None and identity == _identity(other):
        return True
    parent = _identity(one.parent)
    # Some file systems do not tell capitals from small letters.
    return parent is not None and parent == _identity(other.parent) and one.name.lower() == other.name.lower()


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _identity(path: Path) -> tuple[int, int] | None:
    """Device and inode; None for what is not there or may not be looked at."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino
