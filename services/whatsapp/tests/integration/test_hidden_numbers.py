"""10,000 events of the library's own kind with the user's number in every spelling: no delivery tells it.

What a delivery tells is read by other rules than those that hide: all digits of it, whatever script they are
in, with nothing but letters to part them.
"""

import random
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

import pytest
from onechat_whatsapp.domain.batch_wording import batch_text, line_of
from onechat_whatsapp.domain.chat_ids import ChatId
from onechat_whatsapp.domain.messages import Message
from onechat_whatsapp.domain.name_search import ChatKind, NamedChat
from onechat_whatsapp.reading import Reading
from onechat_whatsapp.wire.ports import Contact, Me
from onechat_whatsapp.wire_child.translation import translated

from tests.fakes.clock import ManualClock
from tests.fakes.whatsapp_account import WhatsAppAccount
from tests.fakes.whatsapp_events import MISSING, plain, said, text
from tests.fakes.whatsapp_scripts import BOB, BOB_LID, CAT, CAT_LID, GARDEN
from tests.fakes.whatsapp_wire import FakeWire

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)

EVENTS = 10_000
LID = "99887766554433"
HERE = ZoneInfo("Asia/Kathmandu")

SCRIPTS = [
    "0123456789",
    "０１２３４５６７８９",
    "٠١٢٣٤٥٦٧٨٩",
    "۰۱۲۳۴۵۶۷۸۹",
    "०१२३४५६७८९",
    "𝟎𝟏𝟐𝟑𝟒𝟓𝟔𝟕𝟖𝟗",
    "⁰¹²³⁴⁵⁶⁷⁸⁹",
    "⓪①②③④⑤⑥⑦⑧⑨",
]
BETWEEN = [
    "",
    "",
    "",
    " ",
    "-",
    ".",
    "/",
    "\u00a0",
    "\u202f",
    "–",
    "‑",
    "\u200b",
    " - ",
    ") ",
    " (",
    "\n",
    "_",
    "*",
    "\u2060",
]
AROUND = [
    "",
    " ",
    "call ",
    " me",
    "\n",
    ", ",
    "(",
    ")",
    "é",
    "नमस्ते",
    "👍",
    "https://wa.me/",
    "tel:",
    "'",
    '"',
    "at 12:30 ",
]


@dataclass(frozen=True)
class Account:
    """A user: digits as WhatsApp has them, and what follows the calling code as it is dialled at home."""

    number: str
    code: str
    dialled: str  #: before the rest at home
    rest: str


ACCOUNTS = [
    Account("15550001111", "1", "", "5550001111"),
    Account("447700900123", "44", "0", "7700900123"),
    Account("4915112345678", "49", "0", "15112345678"),
    Account("3545551234", "354", "", "5551234"),
    Account("79161234567", "7", "8", "9161234567"),
    Account("5215512345678", "52", "", "5512345678"),
    Account("5491123456789", "54", "0", "1123456789"),
    Account("555181234567", "55", "0", "5181234567"),
    Account("9779841234567", "977", "0", "9841234567"),
]


class Kept:
    """Where messages go."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    async def take(self, messages: Sequence[Message]) -> None:
        self.messages += messages

    async def merge(self, old: ChatId, new: ChatId) -> None:
        """Nothing is kept by chat here."""


class Groups:
    """Names of groups."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    async def groups(self) -> list[NamedChat]:
        return [NamedChat(id=each, names=(name,), kind=ChatKind.GROUP) for each, name in self.names.items()]


def spelled(chance: random.Random, account: Account) -> str:
    """The number, or the LID, as somebody may write it."""
    before = chance.choice(["+", "00", "011 ", "(+", "", "home", "bare", "lid"])
    if before == "lid":
        digits, before = LID, ""
    elif before == "home":
        digits, before = account.dialled + account.rest, ""
    elif before == "bare":
        digits, before = account.rest, ""
    else:
        at_home = chance.choice(["", "", f"({account.dialled})" if account.dialled == "0" else ""])
        digits = account.number if not at_home else f"{account.code}{at_home}{account.rest}"
    script = chance.choice(SCRIPTS) if chance.random() < 0.5 else SCRIPTS[0]
    between = chance.choice(BETWEEN) if chance.random() < 0.7 else None
    end = "\ufe0f\u20e3" if chance.random() < 0.1 else ""
    signs = []
    for sign in digits:
        shown = script[int(sign)] + end if sign.isdigit() else sign
        gap = chance.choice(BETWEEN) if between is None else between if chance.random() < 0.4 else ""
        signs.append(shown + gap)
    return before + "".join(signs)


def sentence(chance: random.Random, account: Account) -> str:
    """A text with the number in it, mostly."""
    spellings = [spelled(chance, account) for _ in range(chance.choice([0, 1, 1, 1, 2, 3]))]
    mentions = chance.choice([[], [f"@{account.number}"], [f"@{LID}"], ["@15550002222"], ["@111222333444"]])
    words = [*spellings, *mentions, *chance.sample(AROUND, 3)]
    chance.shuffle(words)
    # So few digits are the number's only where no other digit touches them.
    apart = [" ", " x "] if len(account.rest) < 8 else ["", " ", " x "]
    return "".join(f"{word}{chance.choice(apart)}" for word in words)


def event(chance: random.Random, account: Account, number: int) -> object:
    me, lid = f"{account.number}@s.whatsapp.net", f"{LID}@lid"
    founded = f"{account.number}-1500000000@g.us"
    mine = chance.random() < 0.2
    chat = chance.choice([BOB, BOB_LID, CAT, GARDEN, founded, "1234567@broadcast", me, lid])
    grouped = chat.endswith(("@g.us", "@broadcast"))
    sender, alt = chance.choice([(BOB, BOB_LID), (CAT_LID, CAT), (CAT_LID, "")]) if grouped else (chat, "")
    if mine:
        sender, alt = chance.choice([(me, lid), (lid, me), (f"{account.number}:7@s.whatsapp.net", "")])
    words = sentence(chance, account)
    mentioned = chance.sample(
        [me, lid, BOB, CAT_LID, f"{account.number}:3@s.whatsapp.net"], chance.randrange(4)
    )
    content = text(words, mentionedJID=mentioned) if words and chance.random() < 0.6 else plain(words)
    return said(
        content,
        chat=chat,
        sender=sender,
        sender_alt=alt,
        from_me=mine and not alt,  # else it is known by its sender alone
        message_id=f"M{number}",
        push_name=chance.choice(["Bob", "", "You", spelled(chance, account)]),
    )


def account_on(wire_of: Account, chance: random.Random) -> WhatsAppAccount:
    """An account in whose contacts the number stands as well."""
    number = f"{wire_of.number}@s.whatsapp.net"
    account = WhatsAppAccount(Me(number=number, lid=f"{LID}@lid", push_name="Ann"))
    rows = {
        BOB: "Bob",
        CAT_LID: f"Cat {spelled(chance, wire_of)}",
        number: wire_of.number,
        f"{LID}@lid": "Ann",
    }
    account.contacts = [
        Contact(id=each, full_name=name, first_name="", push_name=name, business_name="")
        for each, name in rows.items()
    ]
    return account


def told(delivery: str) -> str:
    """The digits of `delivery`, letters as "x", and nothing else."""
    plain_signs = unicodedata.normalize("NFKC", delivery)
    digits = [(unicodedata.digit(sign, None), sign) for sign in plain_signs]
    return "".join("x" if value is None else str(value) for value, sign in digits if sign.isalnum())


async def read_all(account: Account, chance: random.Random, events: int) -> list[Message]:
    kept = Kept()
    groups = Groups(
        {GARDEN: f"Garden {spelled(chance, account)}", f"{account.number}-1500000000@g.us": "Old"}
    )
    reading = Reading(FakeWire(account_on(account, chance)), groups, kept, ManualClock())
    for number in range(events):
        for ours in translated(event(chance, account, number)):
            await reading.hear(ours)
    return kept.messages


@pytest.mark.parametrize("account", ACCOUNTS, ids=lambda account: account.code)
async def test_no_delivery_tells_the_users_number(account: Account) -> None:
    chance = random.Random(account.number)
    events = EVENTS // len(ACCOUNTS) + 1

    messages = await read_all(account, chance, events)

    assert len(messages) > events / 2
    for message in messages:
        delivery = batch_text(message.chat, message.chat_name, [line_of(message, HERE)])
        digits = told(delivery)
        assert account.number not in digits, delivery
        assert account.rest not in digits, delivery
        assert LID not in digits, delivery
    assert any("OWN" in message.text for message in messages)
    assert any("@you" in message.text for message in messages)
    assert {message.from_me for message in messages} == {True, False}
