"""How many messages a second a memory's store takes in process, without gRPC, beside raw writes.

An append has returned when its message is on disk. Callers are tasks of one event loop, uvloop's as in the
service, each asking again at once. Through gRPC: append.py. Times are seconds.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count, cycle
from typing import Any, Final

import uvloop
from onechat_memory.__main__ import MIGRATIONS, NAME
from onechat_memory.bells import Bells
from onechat_memory.chat_logs import ChatLogs
from onechat_memory.domain.messages import Kind, NewMessage
from onechat_runtime.clock import SystemClock
from onechat_runtime.store import Store, migrations_in

from bench.append import CALLERS, TEXT_BYTES, TEXTS, callers_named
from bench.baselines import Call, rate, raw_sync_rate
from bench.figures import Figure, figure, ratio
from bench.made_log import LOG, data_with
from bench.made_texts import texts_of
from bench.scale import Scale

TITLE: Final = "Appending in process"
ABOUT: Final = (
    "Messages of 40 to 400 bytes to the longest log, one in an append: the look for its key, its line, both "
    "views, their rows and the commit. Each append has returned when its message is on disk; no line that "
    "wants a model is built meanwhile, as in an import. The baseline is raw writes of 4,096 bytes with "
    "fsync, one after the other, in the same round."
)
AT_LEAST: Final = {1: 0.35, 8: 1.5, 32: 3.0}  # × the raw writes, by callers
_KEYS: Final = count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Round:
    raw: float  #: writes a second
    appends: dict[int, float]  #: messages a second, by callers


async def measure(scale: Scale) -> list[Figure]:
    """The figures of one run."""
    # A thread of its own, since the caller's event loop is another kind.
    return _figures(await asyncio.to_thread(uvloop.run, _rounds(scale)))


async def _rounds(scale: Scale) -> list[_Round]:
    clock, migrations = SystemClock(), migrations_in(MIGRATIONS)
    with data_with(scale.huge_log) as data:
        path = data / NAME / "store.db"
        async with Store.open(path, component=NAME, migrations=migrations, clock=clock) as store:
            logs = ChatLogs(store, clock, Bells(clock))
            await logs.load()
            await rate(_append_call(logs), callers=1, seconds=scale.rate_s / 10)
            return [await _round(logs, scale) for _ in range(scale.rounds)]


async def _round(logs: ChatLogs, scale: Scale) -> _Round:
    # Nothing else runs in this loop meanwhile, so the raw writes need no thread.
    raw = raw_sync_rate(scale.rate_s)
    append = _append_call(logs)
    return _Round(
        raw=raw,
        appends={one: await rate(append, callers=one, seconds=scale.rate_s) for one in CALLERS},
    )


def _figures(rounds: Sequence[_Round]) -> list[Figure]:
    raw = [one.raw for one in rounds]
    rows = [figure("baseline: raw writes with fsync", raw, "a second")]
    for callers in CALLERS:
        appends = [one.appends[callers] for one in rounds]
        rows += [
            figure(f"messages, {callers_named(callers)}", appends, "a second"),
            ratio("the same, of the raw writes", appends, raw, at_least=AT_LEAST[callers]),
        ]
    return rows


def _append_call(logs: ChatLogs) -> Call:
    """An append of one new message, another at each call."""
    texts, time = cycle(texts_of(TEXT_BYTES, TEXTS)), datetime.now(UTC)

    def append() -> Any:
        message = NewMessage(
            key=f"in-process:{next(_KEYS)}",
            kind=Kind.USER,
            text=next(texts),
            time=time,
            zone="Europe/Rome",
            source="user",
            turn="",
            step=0,
            call="",
            images=(),
        )
        return logs.append(LOG, [message])

    return append
