"""Buttons under a question to the owner: what a press of one says, and what it carries. Pure.

A button of a proposal carries the agent's stream beside its number: a restored store of the agent counts from
an earlier number, and an old button must not say yes to another proposal. Whether a group shall be served is
asked in the same way, of no number of its own. What a press does: buttons.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from onechat_telegram.domain.ids import ChatId, MessageId, UserId

DATA_MAX: Final = 64  # bytes; Bot API, InlineKeyboardButton.callback_data
_NUMBER_MAX: Final = 1 << 63
_YES: Final = "yes"
_NO: Final = "no"


_GROUP: Final = "group:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A proposal of an agent's store, or whether a group shall be served."""

    stream: str  #: of the agent's events, which are hexadecimal digits; of a group "group:" and its chat
    number: int  #: 1 for a group

    @property
    def group(self) -> ChatId | None:
        """The group that it asks about; None for a proposal."""
        chat = self.stream.removeprefix(_GROUP)
        asks = chat != self.stream and chat.removeprefix("-").isdecimal() and chat.isascii()
        return ChatId(int(chat)) if asks else None


def about_group(chat: ChatId) -> Question:
    """The question whether the group `chat` shall be served."""
    return Question(stream=f"{_GROUP}{chat}", number=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Press:
    """An answer to a question."""

    question: Question
    yes: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Callback:
    """Somebody has pressed a button under a message of the bot."""

    id: str  #: Telegram's, of this press; answered once and soon
    user: UserId
    chat: ChatId | None  #: None where Telegram does not say
    message: MessageId | None  #: the one with the button
    press: Press | None  #: None for a button that is no question's


def read_callback(query: Mapping[str, Any]) -> Callback:
    """The press in an update's `callback_query`. Raises KeyError, TypeError or ValueError for no press."""
    message = query.get("message") or {}
    chat = message.get("chat", {}).get("id")
    number = message.get("message_id")
    return Callback(
        id=str(query["id"]),
        user=UserId(int(query["from"]["id"])),
        chat=None if chat is None else ChatId(int(chat)),
        message=None if number is None else MessageId(int(number)),
        press=press_of(str(query.get("data", ""))),
    )


def data_of(press: Press) -> str:
    """What the button of `press` carries, at most 64 bytes; empty where the stream's name is too long."""
    question = press.question
    data = f"{_YES if press.yes else _NO}:{question.number}:{question.stream}"
    return data if len(data.encode()) <= DATA_MAX else ""


def press_of(data: str) -> Press | None:
    """The press that a button with `data` makes; None for one that `data_of` did not make."""
    word, _, rest = data.partition(":")
    digits, colon, stream = rest.partition(":")
    if word not in {_YES, _NO} or not colon or not (digits.isascii() and digits.isdecimal()):
        return None
    if len(digits) > 19 or not 0 < int(digits) < _NUMBER_MAX:
        return None
    return Press(question=Question(stream=stream, number=int(digits)), yes=word == _YES)
