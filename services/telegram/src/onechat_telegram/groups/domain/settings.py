"""A group's settings, and what they cannot be."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from onechat_telegram.groups.domain.messages import Bot
from onechat_telegram.groups.domain.words import ANY, words_of

NAMES_MAX: Final = 20
NAME_MAX: Final = 60  # code points


class DetectorKind(StrEnum):
    """How a group's messages are judged."""

    SIMPLE = "simple"
    MODEL = "model"
    HYBRID = "hybrid"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSettings:
    """What the owner sets for one group."""

    detector: DetectorKind = DetectorKind.SIMPLE
    names: tuple[str, ...] = ()  #: words that it listens for; "*" stands for any letters of a word
    ask_model: bool = True  #: whether `hybrid` may; where not it judges as `simple` does
    learn: bool = True  #: whether what is not addressed is kept at all
    private_chats: bool = True  #: whether its members may write in private


def first_settings(bot: Bot) -> GroupSettings:
    """The settings of a group that was just admitted: it listens for the bot's handle and name."""
    names = [f"@{bot.handle}"] if bot.handle else []
    if fault_of_name(bot.name) is None:
        names.append(bot.name)
    return GroupSettings(names=tuple(names))


def fault(settings: GroupSettings) -> str | None:
    """Why `settings` cannot be, a sentence; None when they can."""
    if len(settings.names) > NAMES_MAX:
        return f"A group listens for at most {NAMES_MAX} names."
    return next((wrong for name in settings.names if (wrong := fault_of_name(name))), None)


def fault_of_name(name: str) -> str | None:
    """Why `name` cannot be listened for, a sentence; None when it can."""
    if len(name) > NAME_MAX:
        return f"A name is at most {NAME_MAX} letters long."
    words = words_of(name, pattern=True)
    if not words or not all(word.strip(f"{ANY}@_") for word in words):
        return f"Each word of a name needs a letter or digit: {ANY} alone would answer everything."
    return None
