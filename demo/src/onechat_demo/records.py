"""The requests that a scripted server got, whole, and how each ended. For assertions; the demo keeps none."""

import asyncio
import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from onechat_demo.model import Purpose
from onechat_demo.response import JsonDict


class Outcome(StrEnum):
    """How a request ended."""

    OPEN = "open"  #: not yet
    ANSWERED = "answered"
    REFUSED = "refused"  #: it broke a rule; `refusal` says which
    FAULT = "fault"  #: a script made it fail
    GONE = "gone"  #: the client went away before the end


@dataclass(slots=True, kw_only=True)
class Record:
    """One request."""

    number: int  #: from 1
    raw: bytes  #: the body as it came
    headers: Mapping[str, str]  #: names in lower case
    body: JsonDict | None = None  #: None when it was no JSON object
    purpose: Purpose | None = None
    refusal: str = ""
    is_read: bool = False
    outcome: Outcome = Outcome.OPEN
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    def end(self, outcome: Outcome) -> None:
        """Say how it ended; the first word holds."""
        if self.outcome is Outcome.OPEN:
            self.outcome = outcome
        self.ended.set()

    def to_json(self) -> JsonDict:
        """For another process: raw bytes in base64."""
        return {
            "number": self.number,
            "raw": base64.b64encode(self.raw).decode(),
            "body": self.body,
            "purpose": self.purpose,
            "refusal": self.refusal,
            "outcome": self.outcome,
        }


class Records:
    """Every request so far, and a way to wait for more. Belongs to one event loop."""

    def __init__(self) -> None:
        self._records: list[Record] = []
        self._came = asyncio.Condition()

    def all(self, purpose: Purpose | None = None) -> list[Record]:
        """The requests in their order; of one purpose if it is named."""
        return [record for record in self._records if purpose is None or record.purpose is purpose]

    def begin(self, raw: bytes, headers: Mapping[str, str]) -> Record:
        """A request has come."""
        record = Record(number=len(self._records) + 1, raw=raw, headers=headers)
        self._records.append(record)
        return record

    async def read(self, record: Record, purpose: Purpose | None) -> None:
        """The record's body has been read, and keeps the rules if it has a purpose: tell who waits."""
        record.purpose, record.is_read = purpose, True
        async with self._came:
            self._came.notify_all()

    async def wait_for(self, count: int, purpose: Purpose | None = None) -> list[Record]:
        """Returns once `count` requests (of `purpose`) have been read; the caller sets the deadline."""
        async with self._came:
            await self._came.wait_for(lambda: sum(one.is_read for one in self.all(purpose)) >= count)
        return self.all(purpose)
