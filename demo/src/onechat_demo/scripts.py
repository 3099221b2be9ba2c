"""What a test wants the model to do, request by request; without a script for a request the rules answer it.

A script is used once (or `times` times) for the first request that it fits, in the order they were added.
Gates are how a test holds a request: nothing here waits for a time. JSON form: control.py.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from onechat_demo.answers import Answer
from onechat_demo.faults import Break, HttpFault, StreamFault
from onechat_demo.model import Purpose
from onechat_demo.refusals import JsonObject

FOR_EVER = 0  # as `times`


class Gate:
    """Holds a request until the test opens it."""

    def __init__(self) -> None:
        self._reached = asyncio.Event()
        self._opened = asyncio.Event()

    @property
    def is_reached(self) -> bool:
        """Whether a request has come to it."""
        return self._reached.is_set()

    async def reached(self) -> None:
        """Returns once a request waits here, or did."""
        await self._reached.wait()

    def open(self) -> None:
        """Let through what waits and what comes."""
        self._opened.set()

    async def passed(self) -> None:
        """Called by the server: says that a request is here and waits until the gate is open."""
        self._reached.set()
        await self._opened.wait()


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """One thing to do, and for which requests: all that is named must hold."""

    answer: Answer | None = None  #: None: the rules' own answer, then the fault if there is one
    http: HttpFault | None = None  #: goes before answer and stream
    stream: StreamFault | None = None
    gate: Gate | None = None  #: waited at before anything is sent
    stall: Gate | None = None  #: where a stalled stream waits; without one it never goes on
    purpose: Purpose | None = None
    contains: str = ""  #: a text that one of the request's strings holds
    match: Callable[[JsonObject], bool] | None = None
    times: int = 1  #: or FOR_EVER

    @property
    def goes_wrong(self) -> bool:
        """Whether the answer breaks off; a stall may still end well."""
        return self.stream is not None and self.stream.kind is not Break.STALL

    def fits(self, body: JsonObject, purpose: Purpose, text: str) -> bool:
        """Whether this script is for the request; `text` is all its strings, a line each."""
        return (
            (self.purpose is None or self.purpose is purpose)
            and self.contains in text
            and (self.match is None or self.match(body))
        )


@dataclass(slots=True)
class ScriptQueue:
    """The scripts that wait for their requests."""

    _waiting: list[tuple[Script, int]] = field(default_factory=list)  #: with the uses left; FOR_EVER stays

    def add(self, *scripts: Script) -> None:
        """Put scripts at the end."""
        self._waiting += [(script, script.times) for script in scripts]

    def clear(self) -> None:
        """Forget all that were not used."""
        self._waiting.clear()

    def waiting(self) -> tuple[Script, ...]:
        """What was not used up yet."""
        return tuple(script for script, _ in self._waiting)

    def take(self, body: JsonObject, purpose: Purpose) -> Script | None:
        """The first script for this request, which is used by it; None when the rules are to answer."""
        asks_for_text = any(script.contains for script, _ in self._waiting)  # else it is not worth its time
        text = "\n".join(strings_in(body)) if asks_for_text else ""
        for index, (script, left) in enumerate(self._waiting):
            if not script.fits(body, purpose, text):
                continue
            if left == 1:
                del self._waiting[index]
            elif left != FOR_EVER:
                self._waiting[index] = (script, left - 1)
            return script
        return None


def strings_in(value: object) -> Iterator[str]:
    """Every string of a JSON value, in its order; no names."""
    match value:
        case str():
            yield value
        case dict():
            for inner in value.values():
                yield from strings_in(inner)
        case list():
            for inner in value:
                yield from strings_in(inner)


def in_turn(*answers: Answer | str, purpose: Purpose | None = Purpose.TURN) -> Sequence[Script]:
    """A script for each answer, for one request after the other; a string is its text."""
    return [
        Script(answer=Answer(text=answer) if isinstance(answer, str) else answer, purpose=purpose)
        for answer in answers
    ]
