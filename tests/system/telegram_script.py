"""What is said to the bot in a run with kills: updates of all kinds, in the owner's chat and in a group.

Each thing that is said holds a word of its own, such as m017, by which it is found again. Saying it:
telegram_run.py. What the model answers: `answers`.
"""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from tests.fakes.scripted_model import FOR_EVER, Answer, Purpose, Script, call

WORD: Final = re.compile(r"\bm\d{3}\b")
BOT: Final = "@onechat_test_bot"
MEMBERS: Final = {6660001: "Ana", 6660002: "Ben", 6660003: "Cleo", 6660004: "Dan", 6660005: "Eva"}


class Kind(StrEnum):
    """What kind of update."""

    TEXT = "text"
    EDIT = "edit"  # of an earlier text of the same writer
    PHOTO = "photo"
    ALBUM = "album"
    COMMAND = "command"
    PROPOSAL = "proposal"  # a text whose turn ends in one, and a press of its button
    ADMISSION = "admission"  # the bot is added to one more group, and a press of a button
    MENTION = "mention"  # in the group
    MENTIONING_PHOTO = "mentioning photo"
    GROUP_COMMAND = "group command"
    ASIDE = "aside"  # in the group and not for the bot
    ASIDE_EDIT = "aside edit"


IN_GROUP: Final = frozenset(
    {Kind.MENTION, Kind.MENTIONING_PHOTO, Kind.GROUP_COMMAND, Kind.ASIDE, Kind.ASIDE_EDIT}
)
UNHEARD: Final = frozenset({Kind.COMMAND, Kind.ADMISSION})  #: which no log has
SILENT: Final = frozenset({Kind.ASIDE, Kind.ASIDE_EDIT}) | UNHEARD  #: which no turn answers
_TOLD: Final = ("user: ", "work: ")  #: how what a turn is told begins in a request
_UPDATES: Final = {
    Kind.ALBUM: 2,
    Kind.PROPOSAL: 2,
    Kind.ADMISSION: 3,
}  # an admission: told twice, and a press
_IN_PRIVATE: Final = {
    Kind.TEXT: 8,
    Kind.EDIT: 2,
    Kind.PHOTO: 2,
    Kind.ALBUM: 1,
    Kind.COMMAND: 2,
    Kind.PROPOSAL: 1,
    Kind.ADMISSION: 1,
}
_IN_A_GROUP: Final = {
    Kind.ASIDE: 5,
    Kind.ASIDE_EDIT: 1,
    Kind.MENTION: 4,
    Kind.MENTIONING_PHOTO: 1,
    Kind.GROUP_COMMAND: 1,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """Something that is said or done."""

    word: str
    kind: Kind
    who: int  #: a member in the group; 0 for the owner
    yes: bool  #: which button is pressed

    @property
    def answered(self) -> bool:
        """Whether a turn answers it."""
        return self.kind not in SILENT

    @property
    def updates(self) -> int:
        """How many updates it makes."""
        return _UPDATES.get(self.kind, 1)

    @property
    def answer(self) -> str:
        """What the model says to it."""
        return f"Heard {self.word}."


def script(rng: random.Random, updates: int) -> list[Thing]:
    """Things of so many updates or a few more, the last of them a mention, which ends what the group says."""
    kinds = _IN_PRIVATE | _IN_A_GROUP
    said: list[Thing] = []
    while sum(thing.updates for thing in said) < updates - 1:
        said.append(_thing(rng, len(said), rng.choices(list(kinds), list(kinds.values()))[0]))
    return [*said, _thing(rng, len(said), Kind.MENTION)]


def first_of(rng: random.Random, kind: Kind, number: int) -> Thing:
    """One thing of that kind, said before others; `number` from 900 on."""
    return _thing(rng, number, kind)


def _thing(rng: random.Random, number: int, kind: Kind) -> Thing:
    who = rng.choice(list(MEMBERS)) if kind in IN_GROUP else 0
    return Thing(word=f"m{number:03}", kind=kind, who=who, yes=rng.random() < 0.5)


def answers(things: Sequence[Thing]) -> Sequence[Script]:
    """What the model does, for ever the same: it goes by the newest words of the turn, and by its calls."""
    made = []
    for thing in things:
        steps = [Answer(text=thing.answer)]
        if thing.kind is Kind.PROPOSAL:
            make = call("agent_create", name=agent_of(thing), responsibility="nothing in particular")
            # After what a command puts out, making an agent needs the user's yes.
            steps = [
                Answer(calls=(call("shell", command=f"echo {thing.word}"),)),
                Answer(calls=(make,)),
                *steps,
            ]
        for place, answer in enumerate(steps):
            made.append(
                Script(
                    answer=answer,
                    purpose=Purpose.TURN,
                    match=lambda body, asked=(thing.word, place): _asked(body) == asked,
                    times=FOR_EVER,
                )
            )
    return [*made, Script(answer=Answer(text=""), purpose=Purpose.TURN, times=FOR_EVER)]


def agent_of(thing: Thing) -> str:
    """The name of the agent that is proposed."""
    return f"P{thing.word[1:]}"


def _asked(body: dict[str, Any]) -> tuple[str, int]:
    """(the last word of what the turn was last told, how many calls it has made)"""
    told = ""
    calls = 0
    for item in body["input"]:
        if item["type"] == "function_call":
            calls += 1
        elif item["type"] == "message" and item["role"] == "user":
            text = next((part["text"] for part in item["content"] if part["type"] == "input_text"), "")
            told = text if text.startswith(_TOLD) else told
    words = WORD.findall(told)
    return (words[-1] if words else "", calls)
