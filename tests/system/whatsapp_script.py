"""What is written on WhatsApp and asked for in a run with kills, and what the model does about it.

Each thing holds a word of its own, such as m0017, by which it is found again. Saying it: whatsapp_run.py. The
people and groups: tests/fakes/whatsapp_scripts.py; strangers are in no address book.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from onechat_demo.prompt import Called, Said, Voice, read_prompt
from onechat_whatsapp.wire.events import Heard

from tests.fakes.scripted_model import FOR_EVER, Answer, Purpose, Script, call
from tests.fakes.whatsapp_scripts import ANN, BOB, CAT, CAT_LID, GARDEN, heard, own

ROOT, HOUSE = "One", "House"
MAKE: Final = "Make House, and let it have Bob's chat."
WORD: Final = re.compile(r"\bm\d{4}\b")
_ASK: Final = re.compile(r"(?:Please write|I ask for) (m\d{4})")
_REPORT: Final = "Report"


class Kind(StrEnum):
    """What kind of thing."""

    PRIVATE = "private"  # Cat's, by number
    BY_LID = "by LID"  # Cat's too, whose number WhatsApp says
    STRANGER = "stranger"  # somebody's by LID, of whom no number is known
    NAMED_STRANGER = "stranger by number"  # theirs, and that they are the one with the LID
    ROUTED = "routed"  # Bob's, which House has
    REPORTED = "reported"  # the same, and House tells the root of it
    ASIDE = "aside"  # in a group
    MENTION = "mention"  # of the user, in a group
    OWN = "own"  # the user's, from the phone, to Cat
    ASKS = "asks"  # Cat's, upon which the root would write to Cat
    SEND = "send"  # said to the root: write to Cat
    SEND_TO_GROUP = "send to a group"  # the same


ROUTED: Final = frozenset({Kind.ROUTED, Kind.REPORTED})
ASKED: Final = frozenset({Kind.SEND, Kind.SEND_TO_GROUP})  #: which are no messages on WhatsApp
SENDS: Final = ASKED | {Kind.ASKS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """Something that is written, or asked for."""

    word: str
    kind: Kind
    stranger: int  #: a number for whom it is of, if it is a stranger's
    times: int = 1  #: how often WhatsApp brings it, the last time as what could not be read before

    @property
    def text(self) -> str:
        """The words."""
        match self.kind:
            case Kind.ASKS:
                return f"I ask for {self.word}"
            case Kind.SEND | Kind.SEND_TO_GROUP:
                return f"Please write {self.word}"
            case Kind.MENTION:
                return f"@15550001111 look at {self.word}"
            case Kind.REPORTED:
                return f"{_REPORT} {self.word}"
        return f"I tell you of {self.word}"

    @property
    def id(self) -> str:
        """WhatsApp's, of a message."""
        return f"3EB0{self.word}"

    @property
    def sends_to(self) -> str:
        """Where the root is to write to."""
        return GARDEN if self.kind is Kind.SEND_TO_GROUP else CAT

    @property
    def sent(self) -> str:
        """What the root is to write."""
        return f"{self.word}, as you wished"

    def events(self, now: datetime) -> Sequence[Heard]:
        """What WhatsApp brings of it."""
        event = replace(_event(self), message_id=self.id, time=now.replace(microsecond=0))
        return [event] if self.times == 1 else [event, *[event] * (self.times - 2), replace(event, retry=1)]


def _event(thing: Thing) -> Heard:
    match thing.kind:
        case Kind.PRIVATE | Kind.ASKS:
            return heard(thing.text, chat=CAT)
        case Kind.BY_LID:
            return heard(thing.text, chat=CAT_LID, sender_alt=CAT)
        case Kind.STRANGER:
            return heard(thing.text, chat=f"777{thing.stranger:09}@lid", push_name="Dan")
        case Kind.NAMED_STRANGER:
            lid = f"777{thing.stranger:09}@lid"
            number = f"1556{thing.stranger:07}@s.whatsapp.net"
            return heard(thing.text, chat=number, sender_alt=lid, push_name="Dan")
        case Kind.ASIDE:
            return heard(thing.text, chat=GARDEN)
        case Kind.MENTION:
            return heard(thing.text, chat=GARDEN, mentions=(ANN,))
        case Kind.OWN:
            return own(thing.text, chat=CAT)
        case _:
            return heard(thing.text, chat=BOB)


class Words:
    """Makes things, each with a word of its own."""

    def __init__(self) -> None:
        self._last = 0
        self._stranger = 0  # the latest

    def of(self, *kinds: Kind, times: int = 1) -> list[Thing]:
        """A thing of each kind."""
        made = []
        for kind in kinds:
            self._last += 1
            if kind is Kind.STRANGER:
                self._stranger += 1
            made.append(Thing(word=f"m{self._last:04}", kind=kind, stranger=self._stranger, times=times))
        return made


def first_answers() -> Iterator[Script]:
    """What the model does whatever is said: it makes House, House reports, and all else is only seen."""
    make = call("agent_create", name=HOUSE, responsibility="the house and its repairs")
    route = call("route", source=f"whatsapp:{BOB}", agent=HOUSE)
    for place, answer in enumerate(
        (Answer(calls=(make,)), Answer(calls=(route,)), Answer(text="House has Bob's chat."))
    ):
        yield _script(answer, lambda body, place=place: MAKE in _told(body) and _called(body) == place)
    bob = Answer(text="Bob wants you to know.")
    yield _script(
        bob, lambda body: f"You are {HOUSE}," in body["instructions"][:200] and _REPORT in _told(body)
    )
    yield _script(Answer(text=""), lambda body: not _asked(body))


def answer_to(thing: Thing) -> Script:
    """What the model does once it is told `thing`, which asks for a send: that send, once in a turn."""
    sends = call("whatsapp_send", id=thing.word, chat=thing.sends_to, text=thing.sent, image=None)
    return _script(Answer(calls=(sends,)), lambda body: _asked(body) == thing.word)


def _script(answer: Answer, match: Any) -> Script:
    return Script(answer=answer, purpose=Purpose.TURN, match=match, times=FOR_EVER)


def _told(body: dict[str, Any]) -> str:
    turn = read_prompt(body).turn
    return "\n".join(
        one.text for one in turn if isinstance(one, Said) and one.voice in (Voice.USER, Voice.WORK)
    )


def _called(body: dict[str, Any]) -> int:
    return sum(isinstance(one, Called) for one in read_prompt(body).turn)


def _asked(body: dict[str, Any]) -> str:
    """The first word that the turn is to send and has not; "" for none."""
    done = {one.arguments.get("id") for one in read_prompt(body).turn if isinstance(one, Called)}
    return next((word for word in _ASK.findall(_told(body)) if word not in done), "")
