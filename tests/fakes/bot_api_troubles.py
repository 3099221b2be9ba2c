"""Faults that a test orders from the stand-in Bot API server, and the flood control that Telegram has."""

import asyncio
import math
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.fakes.bot_api_refusals import RefusedByBotApi, too_many, usual


@dataclass(kw_only=True)
class Trouble:
    """A fault of a method: the next `times` calls get it, or every call while `times` is None.

    The method "file" is the download of a file.
    """

    method: str
    #: "refuse" answers `code`; "drop" ends the connection with nothing done, "lose" after it was done;
    #: "hang" does it and never answers; "hold" waits for `released` before it is done; "garbage" is a page of
    #: something between here and Telegram.
    how: Literal["refuse", "drop", "lose", "hang", "hold", "garbage"] = "refuse"
    code: int = 500
    description: str = ""
    retry_after: int = 0
    times: int | None = 1
    only_formatted: bool = False  #: only messages with entities
    skip: int = 0  #: calls that go well before the first
    chat: int | None = None  #: only calls for this chat
    released: asyncio.Event = field(default_factory=asyncio.Event)

    def refusal(self) -> RefusedByBotApi:
        return usual(self.code, self.description, self.retry_after)

    def meets(self, method: str, fields: Mapping[str, Any]) -> bool:
        """Whether it is for such a call."""
        formatted = bool(fields.get("entities") or fields.get("caption_entities"))
        return (
            self.method == method
            and (formatted or not self.only_formatted)
            and self.chat in (None, _number(fields.get("chat_id")))
        )


class Troubles:
    """The faults that are ordered, in the order that they were."""

    def __init__(self) -> None:
        self.ordered: list[Trouble] = []

    def fail(self, method: str, **what: Any) -> Trouble:
        trouble = Trouble(method=method, **what)
        self.ordered.append(trouble)
        return trouble

    def heal(self) -> None:
        """End all; calls that are held go on."""
        for trouble in self.ordered:
            trouble.released.set()
        self.ordered.clear()

    def met_by(self, method: str, fields: Mapping[str, Any]) -> Trouble | None:
        """The trouble that this call gets, used up by it."""
        for trouble in self.ordered:
            if not trouble.meets(method, fields):
                continue
            if trouble.skip > 0:
                trouble.skip -= 1
                continue
            if trouble.times is not None:
                trouble.times -= 1
                if trouble.times <= 0:
                    self.ordered.remove(trouble)
            return trouble
        return None


class FloodControl:
    """Telegram's limits on messages, off until `on`: a chat, a group and the whole bot, in messages a period.

    Who is refused once is refused until the seconds that it was told have passed. The figures are those of
    Telegram's FAQ for bots: about one a second in a chat, 20 a minute in a group, 30 a second in all.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self.on = False
        self._now = now
        self._passed: dict[object, deque[float]] = {}
        self._until: dict[object, float] = {}

    def check(self, chat: int) -> None:
        """Count a message to `chat`, or refuse it with 429."""
        if not self.on:
            return
        limits = [(chat, 20, 60.0) if chat < 0 else (chat, 1, 1.0), ("all", 30, 1.0)]
        waits = [self._wait_s(key, most, period_s) for key, most, period_s in limits]
        if max(waits) > 0:
            raise too_many(math.ceil(max(waits)))
        for key, _, _ in limits:
            self._passed[key].append(self._now())

    def _wait_s(self, key: object, most: int, period_s: float) -> float:
        now = self._now()
        passed = self._passed.setdefault(key, deque())
        while passed and passed[0] <= now - period_s:
            passed.popleft()
        if self._until.get(key, now) <= now and len(passed) >= most:
            self._until[key] = now + math.ceil(passed[0] + period_s - now)
        return self._until.get(key, now) - now


def _number(raw: Any) -> int | None:
    try:
        return int(raw)
    except (TypeError, ValueError):
        return None
