"""Which group a member means who writes to the bot in private. Asked once, when there are several."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from onechat_telegram.groups.domain.ids import ChatId

HELD_MOST: Final = 20  # messages of a member that wait for the answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A group that its member may mean."""

    chat: ChatId
    title: str  #: as it is offered


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a member has chosen, or is being asked."""

    chat: ChatId | None  #: None while it is asked
    offered: tuple[ChatId, ...]  #: in the order of their numbers, from 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Meant:
    """The message is for this group's agent."""

    group: Candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The message is the answer: from now on this group is meant."""

    group: Candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class Unclear:
    """To be asked; the message waits for the answer."""

    groups: tuple[Candidate, ...]  #: in the order in which they are offered


@dataclass(frozen=True, slots=True, kw_only=True)
class Nobody:
    """Not a member of any group that is served in private."""


def meant(
    choice: Choice | None, groups: Sequence[Candidate], text: str, *, anew: bool
) -> Meant | Chosen | Unclear | Nobody:
    """What the private message `text` of a member of `groups` is; with `anew` the member wants to be asked.

    The titles are compared as they are offered. A choice of a group that is not in `groups` is void.
    """
    if not groups:
        return Nobody()
    if len(groups) == 1:
        return Meant(group=groups[0])
    by_chat = {group.chat: group for group in groups}
    if choice is not None and not anew:
        if choice.chat in by_chat:
            return Meant(group=by_chat[choice.chat])
        answer = _answer(choice, by_chat, text) if choice.chat is None else None
        if answer is not None:
            return Chosen(group=answer)
    return Unclear(groups=tuple(sorted(groups, key=lambda group: (group.title.casefold(), group.chat))))


def _answer(choice: Choice, by_chat: dict[ChatId, Candidate], text: str) -> Candidate | None:
    said = _plain(text)
    offered = [by_chat.get(chat) for chat in choice.offered]
    if said.isascii() and said.isdigit() and len(said) <= 4:
        number = int(said)
        return offered[number - 1] if 1 <= number <= len(offered) else None
    named = [group for group in offered if group is not None and _plain(group.title) == said]
    return named[0] if len(named) == 1 else None


def _plain(said: str) -> str:
    """As it is compared: people write "2." and "2)", and a title may end so as well."""
    return said.strip().rstrip(".) ").casefold()
