"""What WhatsApp may bring, ready to play: single messages, and scripts of many.

Times are `NOON` plus seconds. The people: ANN owns the account; BOB and CAT write; GARDEN and CARS are
groups.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count

from onechat_whatsapp.wire.events import Heard, Undecryptable

from tests.fakes.whatsapp_account import OWNER

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
ANN, ANN_LID = OWNER.number, OWNER.lid
BOB, BOB_LID = "15550002222@s.whatsapp.net", "111222333444@lid"
CAT, CAT_LID = "15550003333@s.whatsapp.net", "555666777888@lid"
GARDEN, CARS = "120363000000000001@g.us", "120363000000000002@g.us"
_numbers = count(1)


def heard(
    text: str,
    *,
    chat: str = BOB,
    sender: str = "",
    at_s: float = 0,
    message_id: str = "",
    mentions: tuple[str, ...] = (),
    quoted_author: str = "",
    sender_alt: str = "",
    recipient_alt: str = "",
    push_name: str = "Bob",
    retry: int = 0,
) -> Heard:
    """A text of somebody else, in a private chat unless `chat` is a group; an id of its own unless given."""
    is_group = chat.endswith("@g.us")
    return Heard(
        message_id=message_id or f"3EB0{next(_numbers):08X}",
        chat=chat,
        sender=sender or (BOB if chat.endswith(("@g.us", "@broadcast")) else chat),
        sender_alt=sender_alt,
        recipient_alt=recipient_alt,
        from_me=False,
        is_group=is_group,
        text=text,
        mentions=mentions,
        quoted_author=quoted_author,
        push_name=push_name,
        time=NOON + timedelta(seconds=at_s),
        retry=retry,
    )


def own(text: str, *, chat: str = BOB, at_s: float = 0) -> Heard:
    """A text that the user wrote on another device of theirs."""
    return replace(heard(text, chat=chat, at_s=at_s), sender=ANN, from_me=True, push_name=OWNER.push_name)


def mention(text: str = "@15550001111 look", *, chat: str = GARDEN, at_s: float = 0) -> Heard:
    """A group's message that mentions the user by number."""
    return heard(text, chat=chat, at_s=at_s, mentions=(ANN,))


def undecryptable(*, chat: str = BOB, at_s: float = 0, message_id: str = "") -> Undecryptable:
    """A message of Bob's without a key; with an id of its own unless given."""
    return Undecryptable(
        message_id=message_id or f"3EB0{next(_numbers):08X}",
        chat=chat,
        sender=BOB,
        time=NOON + timedelta(seconds=at_s),
    )


def flood(messages: int = 5_000, chats: int = 200, *, every_s: float = 1) -> Iterator[Heard]:
    """`messages` spread over `chats` private chats in turn, one each `every_s`."""
    for number in range(messages):
        who = f"1556{number % chats:07d}@s.whatsapp.net"
        yield heard(f"message {number}", chat=who, at_s=number * every_s, message_id=f"FLOOD{number:06d}")


def replayed(*events: Heard, times: int = 3) -> Iterator[Heard]:
    """Each of `events` `times` times over, as after reconnects; the last of each as a retry."""
    for event in events:
        yield from [event] * (times - 1)
        yield replace(event, retry=1)


def by_number_and_lid(*texts: str, known: bool = True) -> Iterator[Heard]:
    """Texts of Bob, by number and by LID in turn; `known`: WhatsApp says the other of the two each time."""
    for number, text in enumerate(texts):
        if number % 2:
            yield heard(text, chat=BOB_LID, sender_alt=BOB if known else "", at_s=number)
        else:
            yield heard(text, chat=BOB, sender_alt=BOB_LID if known else "", at_s=number)
