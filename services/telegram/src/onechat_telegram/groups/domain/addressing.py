"""Whether a message is meant for the bot, as far as rules can say. The detectors: ../detectors.py.

What is addressed in any case: everything private, the platform's own mentions of the bot, replies to it, and
commands. What only looks like it (a name without "@", a question right after the bot's own words) is unclear.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from onechat_telegram.groups.domain.commands import admin_command
from onechat_telegram.groups.domain.messages import Bot, Message
from onechat_telegram.groups.domain.settings import GroupSettings
from onechat_telegram.groups.domain.words import ANY, names_in, without_code, words_of

_QUESTION_MARKS: Final = frozenset("?？؟⁇⁈՞፧\u037e")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a detector says of a message; any of the three gets an answer."""

    mentions: bool = False  #: it is meant for the bot
    command: bool = False  #: it is an administrator's command
    private: bool = False

    @property
    def answered(self) -> bool:
        """Whether the message gets an answer."""
        return self.mentions or self.command or self.private

    def __or__(self, other: "Judgement") -> "Judgement":
        """What either says."""
        return Judgement(
            mentions=self.mentions or other.mentions,
            command=self.command or other.command,
            private=self.private or other.private,
        )


NOT_ADDRESSED: Final = Judgement()


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A message that was before, in the same thread."""

    text: str  #: with its author, for a model
    own: bool  #: the bot's words


def by_platform(message: Message, bot: Bot) -> Judgement:
    """What holds whatever the group's settings are. Other programs are never answered: two would for ever."""
    if message.sender.is_bot or message.sender.id == bot.id:
        return NOT_ADDRESSED
    ours = message.command is not None and is_handle(message.command.to, bot, empty=True)
    command = ours and admin_command(message.command) is not None
    return Judgement(
        mentions=(ours and not command) or _mentioned(message, bot) or _replied_to(message, bot),
        command=command,
        private=message.private,
    )


def by_names(message: Message, names: Sequence[str]) -> bool:
    """Whether one of `names` stands in the text, as words and outside code."""
    if message.sender.is_bot:
        return False
    words = words_of(without_code(message.text, message.code))
    return any(names_in(words, name) for name in names)


def clear_names(settings: GroupSettings) -> tuple[str, ...]:
    """The names that leave no doubt: those with "@", and patterns, which the owner wrote on purpose."""
    return tuple(name for name in settings.names if "@" in name or ANY in name)


def doubtful_names(settings: GroupSettings, bot: Bot) -> tuple[str, ...]:
    """The names that people also say of the bot, not only to it."""
    plain = tuple(name for name in settings.names if "@" not in name and ANY not in name)
    return (*plain, bot.name)


def asks_after_own_words(message: Message, before: Sequence[Line]) -> bool:
    """Whether it is a question and the bot spoke last in this thread."""
    if message.sender.is_bot or not before or not before[-1].own:
        return False
    return not _QUESTION_MARKS.isdisjoint(message.text)


def is_handle(handle: str, bot: Bot, *, empty: bool = False) -> bool:
    """Whether `handle` is the bot's; `empty` is what an empty one counts as."""
    return handle.casefold() == bot.handle.casefold() if handle and bot.handle else empty and not handle


def _mentioned(message: Message, bot: Bot) -> bool:
    return any(each.member == bot.id or is_handle(each.handle, bot) for each in message.mentions)


def _replied_to(message: Message, bot: Bot) -> bool:
    return message.answers is not None and message.answers.author.id == bot.id
