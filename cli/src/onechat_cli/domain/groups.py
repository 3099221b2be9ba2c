"""The Telegram groups that the bot is in, as people name, set and read them.

Whatever a terminal obeys is made harmless, also for a pipe. Where they come from: adapters/telegram.py.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from onechat_cli.domain.agent_names import Names, agent_name
from onechat_cli.domain.safe_text import harmless_line, one_line
from onechat_cli.domain.table import table_with_texts

NO_GROUP: Final = "The bot is in no group: add it to one in Telegram."
WITHOUT_GROUPS: Final = {  # by the link's state
    "no token": "Telegram is not set up: set TELEGRAM_TOKEN to a token from @BotFather to use it.",
    "token refused": "Telegram refuses the bot's token: check TELEGRAM_TOKEN, then start the service again.",
}
_CELL: Final = 40  # characters
_SETTINGS_MIN: Final = 60  # columns: as much as the settings of most groups take
_MEANT: Final = 5  # groups at most, in one sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A group that the bot is in."""

    chat: int  #: Telegram's number of it
    title: str
    admitted: bool  #: whether it is served; otherwise it awaits the owner's yes
    detector: str  #: simple, model or hybrid; a newer service may have more
    names: tuple[str, ...]  #: what it listens for
    ask_model: bool  #: whether hybrid may
    learn: bool
    private_chats: bool
    agent: str  #: its agent's id, "" before it was first admitted


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What is to be set anew; None leaves a setting as it is."""

    detector: str | None = None
    names: tuple[str, ...] | None = None
    ask_model: bool | None = None
    learn: bool | None = None
    private_chats: bool | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to set."""
        return self == Changes()

    def applied(self, group: Group) -> Group:
        """`group` with these changes."""
        return replace(
            group,
            detector=group.detector if self.detector is None else self.detector,
            names=group.names if self.names is None else self.names,
            ask_model=group.ask_model if self.ask_model is None else self.ask_model,
            learn=group.learn if self.learn is None else self.learn,
            private_chats=group.private_chats if self.private_chats is None else self.private_chats,
        )


class NotOneGroup(Exception):
    """What was named is none of the groups, or several. Its text says what to do."""


def meant(groups: Sequence[Group], text: str) -> Group:
    """The group that `text` names: by its number, its title, or a part of that, whatever the case.

    A number goes before a title, a whole title before a part of one. Raises NotOneGroup.
    """
    wanted = _folded(text)
    found = (
        [group for group in groups if str(group.chat) == wanted]
        or [group for group in groups if _folded(group.title) == wanted]
        or [group for group in groups if wanted in _folded(group.title)]
    )
    shown = one_line(text, _CELL)
    if not found:
        raise NotOneGroup(f"The bot is in no group {shown}: `onechat telegram groups` shows those it is in.")
    if len(found) > 1:
        some = ", ".join(map(title_of, found[:_MEANT])) + (", …" if len(found) > _MEANT else "")
        raise NotOneGroup(f"{shown} may be {len(found)} groups: {some}. Name one by its number.")
    return found[0]


def group_lines(groups: Sequence[Group], names: Names, width: int | None) -> list[str]:
    """A table of groups in lines of `width` columns; with None each stands whole, on one line."""
    rows = [
        (
            str(group.chat),
            one_line(group.title, _CELL),
            "served" if group.admitted else "awaits your yes",
            agent_name(group.agent, names) or "-",
        )
        for group in groups
    ]
    texts = [settings_of(group) for group in groups]
    head = ("CHAT", "GROUP", "STATE", "AGENT")
    return table_with_texts(
        [head, *rows], ["SET TO", *texts], width, right=frozenset({0}), text_min=_SETTINGS_MIN
    )


def title_of(group: Group) -> str:
    """A group in a sentence: its title and its number."""
    return f"{one_line(group.title, _CELL)} ({group.chat})"


def settings_of(group: Group) -> str:
    """How a group is set, in one line."""
    without = " without the model" if group.detector == "hybrid" and not group.ask_model else ""
    return "; ".join(
        (
            one_line(group.detector, _CELL) + without,
            "learns" if group.learn else "does not learn",
            "private chats" if group.private_chats else "no private chats",
            f"listens for {', '.join(map(harmless_line, group.names)) or 'no name'}",
        )
    )


def group_row(group: Group, names: Names) -> Mapping[str, object]:
    """A group with all its fields, as JSON has them; its agent null where not known, or where it has none."""
    return {
        "chat_id": group.chat,
        "title": group.title,
        "admitted": group.admitted,
        "detector": group.detector,
        "names": list(group.names),
        "ask_model": group.ask_model,
        "learn": group.learn,
        "private_chats": group.private_chats,
        "agent": names.get(group.agent),
        "agent_id": group.agent or None,
    }


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
