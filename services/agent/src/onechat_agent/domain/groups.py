"""A group and its agent: whose words it takes, what of them is private, what it may be called. Pure.

A group is known by its source, which never changes, whatever becomes of the chat's id at the messenger. Its
title is its members' and may change any day. Which agents there are: groups.py of the package.
"""

import re
from dataclasses import dataclass
from typing import Final

from onechat_agent.domain.agent import AREA_MAX
from onechat_agent.domain.delivery import NAME_MAX
from onechat_agent.domain.text import plain_line

_MESSENGER: Final = "telegram:"  # how groups' sources begin, and those of their members' own chats
_SOURCE: Final = re.compile(rf"{_MESSENGER}\S+")
_NAME: Final = re.compile(r"Group[1-9][0-9]{0,8}")
_PROPOSAL: Final = "proposal:"  # how a proposal of the agent's own went


@dataclass(frozen=True, slots=True, kw_only=True)
class NewGroup:
    """A group that is to have an agent."""

    source: str
    title: str  #: one line, not empty


class GroupRefused(Exception):
    """No agent can be made for such a group; the text is a sentence that says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Addressed:
    """What a model says of a message."""

    mentions: bool = False  #: it is meant for the agent
    command: bool = False  #: it asks for the agent's status, or that its memory be cleared
    private: bool = False  #: its answer is for its writer alone


def new_group(source: str, title: str) -> NewGroup:
    """The group as it is stored. Raises GroupRefused."""
    if not _SOURCE.fullmatch(source) or not source.isprintable() or len(source) > NAME_MAX:
        raise GroupRefused("A group's source is telegram:ID, of at most 200 characters.")
    title = plain_line(title)
    if not title:
        raise GroupRefused("A group needs its title.")
    return NewGroup(source=source, title=title if len(title) <= AREA_MAX else f"{title[: AREA_MAX - 1]}…")


def group_name(number: int) -> str:
    """`Group3`: the third that there was, whatever became of the others."""
    return f"Group{number}"


def is_group_name(name: str) -> bool:
    """Whether a group's agent could be called so; no child can."""
    return _NAME.fullmatch(name) is not None


def group_name_fault(name: str) -> str | None:
    """Why a group's agent cannot have this name, a sentence; None when it can."""
    return None if is_group_name(name) else "A group's agent is called Group and a number, such as Group3."


def given_tools(tools: tuple[str, ...], *, fenced: bool) -> tuple[str, ...]:
    """What of `tools` a group's agent has; `fenced`: the kernel keeps a shell out of the others' folders.

    Without that a shell would read to the group what the root is told.
    """
    return tools if fenced else tuple(name for name in tools if name != "shell")


def is_of_members(source: str) -> bool:
    """Whether it is a group's source, or that of a member's own chat: the user's own words come as `user`."""
    return source.startswith(_MESSENGER)


def takes(group: str, source: str) -> bool:
    """Whether the agent of `group` takes what comes from `source`: its own messenger alone, and outcomes.

    The user's words, other messengers and other agents have no way in, as nothing of it has a way out.
    """
    return source.startswith((f"{group.partition(':')[0]}:", _PROPOSAL))


def proposal_of(source: str) -> int | None:
    """The number of the proposal whose outcome comes from `source`; None for anything else."""
    number = source.removeprefix(_PROPOSAL)
    return int(number) if source.startswith(_PROPOSAL) and number.isdecimal() else None


def is_private(group: str, source: str) -> bool:
    """Whether the agent of `group` was told it by a member alone: then it comes from that member's chat."""
    return takes(group, source) and not source.startswith(_PROPOSAL) and source != group
