"""A made conversation of a group: five members, three threads, and which messages are meant for the bot.

Most are among members. Some mention the bot as the platform marks it, reply to it, call it by its bare name,
speak of it, or go on right after its words, mostly with a question. The same seed gives the same messages.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from onechat_telegram.groups.domain.ids import ChatId, MemberId, MessageId, MessageKey, ThreadId
from onechat_telegram.groups.domain.messages import Bot, Member, Mention, Message, Place, Quote

from bench.made_texts import latin

BOT: Final = Bot(id=MemberId("1"), handle="robobot", name="Robo")
CHAT: Final = ChatId("-100")
MEMBERS: Final = tuple(
    Member(id=MemberId(str(70 + number)), name=name)
    for number, name in enumerate(("Ana", "Ben", "Cleo", "Dan", "Eva"))
)
THREADS: Final = (ThreadId(""), ThreadId("4"), ThreadId("9"))
START: Final = datetime(2026, 1, 1, 9, tzinfo=UTC)
SIZES: Final = (15, 160)  # bytes of a message
ANSWER: Final = "It is the fourteenth, at the mill, as Ana proposed on Monday; Ben cannot before the twelfth."
# Of a hundred messages so many are of a kind; the others are among members.
_SHARES: Final = {"mention": 6, "reply": 4, "called": 4, "spoken of": 3, "question": 20}
# Of a hundred messages that follow the bot's words in a thread; the others are as anywhere.
_AFTER_BOT: Final = {"asks on": 40, "goes on": 5, "question": 15, "": 40}


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One message, and whether it is meant for the bot."""

    message: Message
    meant: bool


def conversation(messages: int, seed: int) -> Sequence[Said]:
    """So many messages, oldest first; no two have the same text."""
    rng = random.Random(seed)
    answered: dict[ThreadId, bool] = dict.fromkeys(THREADS, False)  # whether the bot spoke last
    said: list[Said] = []
    for number in range(messages):
        thread = rng.choices(THREADS, weights=(3, 2, 1))[0]
        one = _said(number, thread, after_bot=answered[thread], rng=rng)
        answered[thread] = one.meant
        said.append(one)
    return said


def _said(number: int, thread: ThreadId, *, after_bot: bool, rng: random.Random) -> Said:
    words = f"{latin().cut(rng.randint(*SIZES), rng).replace('?', '')} {number}"
    kind = _kind(after_bot, rng)
    text, meant = {
        "mention": (f"@{BOT.handle} {words}", True),
        "reply": (words, True),
        "called": (f"{BOT.name}, {words}?", True),
        "spoken of": (f"{words} as {BOT.name} said", False),
        "asks on": (f"{words}?", True),
        "goes on": (words, True),
        "question": (f"{words}?", False),
        "chat": (words, False),
    }[kind]
    message = Message(
        key=MessageKey(f"k{number}"),
        place=Place(chat=CHAT, message=MessageId(str(number)), thread=thread),
        private=False,
        title="Friends",
        sender=rng.choice(MEMBERS),
        time=START + timedelta(minutes=number),
        text=text,
        mentions=(Mention(handle=BOT.handle),) if kind == "mention" else (),
        answers=Quote(author=Member(id=BOT.id, name=BOT.name), text="so") if kind == "reply" else None,
    )
    return Said(message=message, meant=meant)


def _kind(after_bot: bool, rng: random.Random) -> str:
    usual = {**_SHARES, "chat": 100 - sum(_SHARES.values())}
    return (after_bot and _drawn(_AFTER_BOT, rng)) or _drawn(usual, rng)


def _drawn(shares: Mapping[str, int], rng: random.Random) -> str:
    return rng.choices(list(shares), weights=list(shares.values()))[0]
