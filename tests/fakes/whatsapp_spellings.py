"""Events of WhatsApp's library with the user's number in every spelling, in all that others may write.

    chance = random.Random(1)
    fuzz = Fuzz(USERS[0], chance)
    fuzz.account()                      # contacts and groups whose names tell the number
    fuzz.event(7)                       # a message, a keyless one, or a new name of a group
    tells(text, USERS[0])               # what of the number anybody can read in `text`; "" for nothing

`tells` goes by other rules than those that hide: all digits of a text, whatever script they are in and also
as a link has them, with nothing but letters to part them.
"""

import random
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from onechat_whatsapp.domain.names import Contact
from onechat_whatsapp.wire.ports import GroupRow, Me

from tests.fakes.whatsapp_account import WhatsAppAccount
from tests.fakes.whatsapp_events import keyless, library_jid, plain, proto, said, text, through_bytes
from tests.fakes.whatsapp_scripts import BOB, BOB_LID, CAT, CAT_LID, GARDEN

LID = "99887766554433"
NOON_MS = 1_796_040_000_000
LIST = "1234567@broadcast"
TAGS = 0xE0000  # signs that nobody sees, each like one of ASCII
FILLERS = "\u115f\u1160\u3164\uffa0"  # letters that nobody sees

SCRIPTS = (
    "0123456789", "０１２３４５６７８９", "٠١٢٣٤٥٦٧٨٩", "۰۱۲۳۴۵۶۷۸۹", "०१२३४५६७८९", "๐๑๒๓๔๕๖๗๘๙",
    "𝟎𝟏𝟐𝟑𝟒𝟓𝟔𝟕𝟖𝟗", "⁰¹²³⁴⁵⁶⁷⁸⁹", "⓪①②③④⑤⑥⑦⑧⑨", "〇一二三四五六七八九", "零壹貳叁肆伍陸柒捌玖",
    "0㊀㊁㊂㊃㊄㊅㊆㊇㊈", "".join(map(chr, range(TAGS + 0x30, TAGS + 0x3A))),
)  # fmt: skip
BETWEEN = (
    "", "", "", "", " ", "-", ".", "/", "\u00a0", "\u202f", "\u2009", "–", "‑", "—", "·", "\u200b", "\u200d",
    "\u2060", "\ufeff", "\u00ad", "\u202c", "\u3164", " - ", ") ", " (", "\n", "\r\n", "\u2028", "\t", "_",
)  # fmt: skip
AROUND = (
    "", " ", "call ", " me", "\n", ", ", "(", ")", "é", "नमस्ते", "👍", "https://wa.me/", "tel:", "'",
    "at 12:30 ", "@", "100%", "| ", "[image x.png]", "\x00", "You: ", "2026-11-30 13:00 You: ",
)  # fmt: skip
DECOYS = ("@15550002222", "@111222333444", "+15550003333", "call 4930123")


@dataclass(frozen=True)
class User:
    """Whose number it is: digits as WhatsApp has them, and how it is dialled at home."""

    number: str
    code: str
    dialled: str  #: before the rest at home
    rest: str

    @property
    def jid(self) -> str:
        return f"{self.number}@s.whatsapp.net"


USERS = (
    User("15550001111", "1", "", "5550001111"),
    User("447700900123", "44", "0", "7700900123"),
    User("4915112345678", "49", "0", "15112345678"),
    User("3545551234", "354", "", "5551234"),
    User("79161234567", "7", "8", "9161234567"),
    User("5215512345678", "52", "", "5512345678"),
    User("5491123456789", "54", "0", "1123456789"),
    User("555181234567", "55", "0", "5181234567"),
    User("9779841234567", "977", "0", "9841234567"),
    User("4512345678", "45", "", "12345678"),
)


class Fuzz:
    """Makes what comes to one user."""

    def __init__(self, user: User, chance: random.Random) -> None:
        self.user, self.chance = user, chance
        self.founded = f"{user.number}-1500000000@g.us"

    def account(self) -> WhatsAppAccount:
        """An account in whose contacts and groups the number stands as well."""
        account = WhatsAppAccount(Me(number=self.user.jid, lid=f"{LID}@lid", push_name="Ann"))
        names = {
            BOB: "Bob",
            CAT_LID: f"Cat {self.spelled()}",
            CAT: "x" * self.chance.randrange(60, 100) + self.user.number,
            self.user.jid: self.user.number,
            f"{LID}@lid": "Ann",
        }
        account.contacts = [
            Contact(id=each, full_name=name, first_name="Cat", push_name=self.spelled(), business_name=name)
            for each, name in names.items()
        ]
        account.groups_joined = [
            GroupRow(id=GARDEN, name=f"Garden {self.spelled()}"),
            GroupRow(id=self.founded, name=f"{self.spelled()} Old"),
        ]
        account.lids = {self.user.jid: f"{LID}@lid", BOB: BOB_LID}
        return account

    def spelled(self) -> str:
        """The number, or the LID, as somebody may write it."""
        chance, user = self.chance, self.user
        before = chance.choice(["+", "00", "011 ", "(+", "", "home", "bare", "lid"])
        if before == "lid":
            digits, before = LID, ""
        elif before in ("home", "bare"):
            digits, before = (user.dialled if before == "home" else "") + user.rest, ""
        else:
            at_home = chance.choice(["", "", f"({user.dialled})" if user.dialled == "0" else ""])
            digits = user.number if not at_home else f"{user.code}{at_home}{user.rest}"
        script = chance.choice(SCRIPTS) if chance.random() < 0.5 else SCRIPTS[0]
        between = chance.choice(BETWEEN) if chance.random() < 0.7 else None
        end = "\ufe0f\u20e3" if chance.random() < 0.1 else ""
        signs = []
        for sign in digits:
            shown = script[int(sign)] + end if sign.isdigit() else sign
            gap = chance.choice(BETWEEN) if between is None else between if chance.random() < 0.4 else ""
            signs.append(shown + gap)
        written = before + "".join(signs)
        return f"https://wa.me/{quote(written)}" if chance.random() < 0.1 else written

    def sentence(self) -> str:
        """A text with the number in it, mostly."""
        chance = self.chance
        spellings = [self.spelled() for _ in range(chance.choice([0, 1, 1, 1, 2, 3]))]
        mentions = chance.choice([[], [f"@{self.user.number}"], [f"@{LID}"], [chance.choice(DECOYS)]])
        words = [*spellings, *mentions, *chance.sample(AROUND, 3)]
        chance.shuffle(words)
        # So few digits are the number's only where no other digit touches them.
        apart = [" ", " x "] if len(self.user.rest) < 8 else ["", " ", " x "]
        return "".join(f"{word}{chance.choice(apart)}" for word in words)

    def event(self, number: int) -> Any:
        """One of the library's events."""
        match number % 25:
            case 3:
                return self._keyless(number)
            case 7:
                return self._renamed()
            case _:
                return self._message(number)

    def _message(self, number: int) -> Any:
        chance, user = self.chance, self.user
        me, lid = user.jid, f"{LID}@lid"
        mine = chance.random() < 0.2
        chat = chance.choice([BOB, BOB_LID, CAT, GARDEN, self.founded, LIST, me, lid])
        grouped = chat.endswith(("@g.us", "@broadcast"))
        sender, alt = (
            chance.choice([(BOB, BOB_LID), (CAT_LID, CAT), (CAT_LID, "")]) if grouped else (chat, "")
        )
        if mine:
            sender, alt = chance.choice([(me, lid), (lid, me), (f"{user.number}:7@s.whatsapp.net", "")])
        words = self.sentence()
        ids = [me, lid, BOB, CAT, CAT_LID, f"{user.number}:3@s.whatsapp.net"]
        context: dict[str, Any] = {"mentionedJID": chance.sample(ids, chance.randrange(4))}
        if chance.random() < 0.3:
            context |= {
                "stanzaID": "X",
                "participant": chance.choice(ids),
                "quotedMessage": plain(self.spelled()),
            }
        content = text(words, **context) if words and chance.random() < 0.6 else plain(words)
        return said(
            content,
            chat=chat,
            sender=sender,
            sender_alt=alt,
            from_me=mine and not alt,  # else it is known by its sender alone
            message_id=chance.choice([f"M{number}", f"{self.user.number}{number}"]),
            push_name=chance.choice(["Bob", "", "You", self.spelled(), f"{user.number}\n| x"]),
            written_ms=NOON_MS + 7_000 * number,
        )

    def _keyless(self, number: int) -> Any:
        chat = self.chance.choice([BOB, GARDEN, self.founded, CAT])
        around: dict[str, Any] = {"message_id": f"K{number}", "written_ms": NOON_MS + 7_000 * number}
        return keyless(chat=chat, sender=self.chance.choice([BOB, self.user.jid]), **around)

    def _renamed(self) -> Any:
        name = proto("GroupName")(Name=self.sentence(), NameSetAt=0, NameSetBy=library_jid(BOB))
        return through_bytes(
            proto("GroupInfoEvent")(
                JID=library_jid(self.chance.choice([GARDEN, self.founded])),
                Sender=library_jid(BOB),
                Timestamp=0,
                Name=name,
                **dict.fromkeys(
                    (
                        "Notify",
                        "PrevParticipantsVersionID",
                        "ParticipantVersionID",
                        "JoinReason",
                        "NewInviteLink",
                    ),
                    "",
                ),
            )
        )


def tells(written: str, user: User) -> str:
    """What of the number, or of the LID, stands in `written`; "" for nothing."""
    readings = {digits_of(written), digits_of(unquote(written))}
    secrets = (user.number, user.rest, LID)
    return next((secret for secret in secrets for digits in readings if secret in digits), "")


def digits_of(written: str) -> str:
    """The digits of `written`, its letters as "x", and nothing else."""
    return "".join(_digit(sign) for each in written for sign in _plain(each))


def strings_in(message: Any) -> Iterator[str]:
    """Every text within a protobuf message."""
    for field, value in message.ListFields():
        values: Sequence[Any] = [value] if isinstance(value, str) or not hasattr(value, "__len__") else value
        for each in values:
            if isinstance(each, str):
                yield each
            elif field.message_type is not None:
                yield from strings_in(each)


def _plain(sign: str) -> str:
    within = ord(sign) - TAGS
    return chr(within) if 0x20 <= within < 0x7F else unicodedata.normalize("NFKC", sign)


def _digit(sign: str) -> str:
    value = unicodedata.numeric(sign, None)
    if value is not None and value in range(10):
        return str(int(value))
    return "x" if sign.isalnum() and sign not in FILLERS else ""
