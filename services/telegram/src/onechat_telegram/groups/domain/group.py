"""A group as the gateway keeps it, and its admission.

A group is served once the owner has added the bot and has said yes. In any other one the bot says nothing
and leaves. What it knows of a group that it has left stays: the owner may add it again.
"""

from dataclasses import dataclass
from enum import StrEnum

from onechat_telegram.groups.domain.ids import AgentId, ChatId, Source
from onechat_telegram.groups.domain.settings import GroupSettings


class GroupState(StrEnum):
    """How far a group's admission is."""

    ASKED = "asked"  # the owner has added the bot and is asked to confirm
    ADMITTED = "admitted"
    LEFT = "left"  # by us, or we were removed


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A group that the bot is in, or was."""

    chat: ChatId
    title: str
    state: GroupState
    source: Source  #: fixed at its first sight; the chat's own id may change
    agent: AgentId  #: "" before its first admission
    settings: GroupSettings


class Entrance(StrEnum):
    """What to do when the bot is added to a group."""

    ASK = "ask"  # the owner, whether the group shall be served
    STAY = "stay"  # it is served already, or asked about
    LEAVE = "leave"  # after telling the owner
    LEAVE_QUIETLY = "leave quietly"  # the owner knows


def on_added(state: GroupState | None, *, by_owner: bool) -> Entrance:
    """What to do when somebody adds the bot to a group whose state so far is `state`."""
    if state in (GroupState.ADMITTED, GroupState.ASKED):
        return Entrance.STAY
    return Entrance.ASK if by_owner else Entrance.LEAVE


def on_message(state: GroupState | None) -> Entrance:
    """What to do about a message in a group of that state."""
    if state is None:
        return Entrance.LEAVE  # nobody told us that we were added
    return Entrance.LEAVE_QUIETLY if state is GroupState.LEFT else Entrance.STAY
