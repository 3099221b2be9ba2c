"""What an agent is: its role, how far it is, whose it is, and which names it may have. Pure.

What is on disk of one: adapters/agent_rows.py and adapters/agent_folder.py. Who is there: agents.py.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from onechat_agent.domain.chat import AgentId

AREA_MAX: Final = 500  #: characters of a child's area; each turn of the root shows all of them
CHILDREN_MAX: Final = 100  #: that the root can make; far off, and the state block stays bounded by it
_CHILD_NAME: Final = re.compile(r"[A-Z][A-Za-z]{1,31}")
_TAKEN: Final = frozenset({"all", "root"})  # `/stop all` means everybody, a delivery to `root` the root


class Role(StrEnum):
    """What an agent is, which says what it may do."""

    ROOT = "root"
    CHILD = "child"
    SUBAGENT = "subagent"
    GROUP = "group"


class AgentState(StrEnum):
    """How far an agent is: root, children and groups by the first three, a subagent by the others."""

    CREATING = "creating"  #: its log or folder may not be there yet; finished at start
    READY = "ready"
    REMOVED = "removed"  #: its folder was taken away; its name is free again, its id never
    WAITING = "waiting"  #: a subagent with a task that has not begun
    WORKING = "working"
    FINISHED = "finished"  #: it has reported; a `tell` sets it to work again
    STOPPED = "stopped"  #: by the user; not taken up at start
    FAILED = "failed"


UNFINISHED: Final = frozenset({AgentState.WAITING, AgentState.WORKING})  #: subagents that go on at start


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """One agent, as the store knows it."""

    id: AgentId  #: random, never reused; its log's id and its cache key too
    name: str  #: unique among those that are not removed, in any case of letters
    role: Role
    state: AgentState
    parent: AgentId | None = None  #: a child's root, a subagent's owner
    area: str = ""  #: a child's responsibility, a group's title
    effort: str = ""  #: a subagent's, when its owner chose one
    source: str = ""  #: a group's, by which its agent is found
    create_time: datetime | None = None  #: UTC; None before it is stored


def is_name(name: str) -> bool:
    """Whether root or child could be called so: a word of letters, a capital first."""
    return _CHILD_NAME.fullmatch(name) is not None


def name_fault(name: str) -> str | None:
    """Why a child cannot have this name, a sentence; None when it can, if nobody else has it."""
    if name.lower() in _TAKEN:
        return f"{name} already means something else: choose another name."
    if is_name(name):
        return None
    return "A name is one word of 2 to 32 letters from A to Z, a capital first, such as House."


def subagent_name(owner: str, number: int) -> str:
    """`House-3`: the owner's third, whatever became of the others."""
    return f"{owner}-{number}"
