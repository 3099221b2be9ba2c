"""Hand-overs to other services: store here, hand over with a key, forget after the answer.

A hand-over that fails for now is tried for ever, 1 s doubling to 60 s with jitter; any other failure five
times, then it is set aside with its trace and the next one goes on. One that was answered but not forgotten
(a crash in between) is handed over again with the same key. The table is in migrations/.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import apsw

from onechat_runtime import logs
from onechat_runtime.clock import Clock, instant, micros
from onechat_runtime.errors import RemoteError, StoreFull, retriable
from onechat_runtime.health import HealthBoard
from onechat_runtime.store import Store

FIRST_DELAY_S: Final = 1.0
LONGEST_DELAY_S: Final = 60.0
TRIES: Final = 5  # of what is not retriable
_JITTER: Final = (0.8, 1.2)
_TROUBLE: Final = "outbox"

Sender = Callable[[str, bytes], Awaitable[bytes | None]]  # key, body → answer
Settled = Callable[[apsw.Connection, str, str, bytes], None]  # db, kind, key, answer

log = logs.get("onechat.outbox")


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAside:
    """A hand-over that was given up until somebody asks for it again."""

    kind: str
    key: str
    trace: str  #: why the last try failed
    time: datetime  #: UTC; when it was set aside


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """A hand-over that waits."""

    key: str
    body: bytes
    time: datetime  #: UTC; when it was put


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    number: int
    kind: str
    key: str
    body: bytes
    tries: int


class Outbox:
    """Every hand-over of a service. `senders` has one for each kind.

    A sender raises RemoteError or whatever else went wrong; what it returns goes to `settled`, in the
    transaction that forgets the hand-over.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        rng: random.Random,
        senders: Mapping[str, Sender],
        settled: Settled | None = None,
        *,
        board: HealthBoard | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._rng = rng
        self._senders = senders
        self._settled = settled
        self._board = board
        self._look = asyncio.Event()
        self._hurry = asyncio.Event()
        self._working: set[str] = set()

    def put(
        self, db: apsw.Connection, *, kind: str, key: str, body: bytes, lane: str = "", now: datetime
    ) -> None:
        """Add a hand-over in the caller's transaction; a known (kind, key) stays as it was.

        What shares a lane, of whatever kind, is handed over in the order of its puts. `run` sees it as
        soon as it is committed.
        """
        db.execute(
            "INSERT INTO outbox (kind, key, lane, body, time) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (kind, key, lane, body, micros(now)),
        )
        self._store.when_committed(self._look.set)

    @staticmethod
    def queued(db: apsw.Connection, *, kind: str, lane: str) -> list[Queued]:
        """What of `kind` waits in `lane`, the one at work too, in the order of the puts."""
        rows: list[Any] = db.execute(
            "SELECT key, body, time FROM outbox WHERE kind = ? AND lane = ? AND set_aside_time IS NULL"
            " ORDER BY number",
            (kind, lane),
        ).fetchall()
        return [Queued(key=key, body=body, time=instant(time)) for key, body, time in rows]

    @staticmethod
    def withdraw(db: apsw.Connection, *, kind: str, key: str) -> None:
        """Forget a hand-over in the caller's transaction, if it was not made yet; one at work is made."""
        db.execute("DELETE FROM outbox WHERE kind = ? AND key = ?", (kind, key))

    def wake(self) -> None:
        """Try at once what waits for its next try, as when a neighbour has come back."""
        self._hurry.set()
        self._hurry = asyncio.Event()
        self._look.set()

    def waiting(self) -> int:
        """How many hand-overs are still to be made, without those set aside."""
        return self._count("set_aside_time IS NULL")

    def set_aside(self) -> list[SetAside]:
        """What was set aside, the oldest first."""
        rows: list[Any] = self._store.read(
            lambda db: db.execute(
                "SELECT kind, key, trace, set_aside_time FROM outbox"
                " WHERE set_aside_time IS NOT NULL ORDER BY number"
            ).fetchall()
        )
        return [
            SetAside(kind=kind, key=key, trace=trace, time=instant(time)) for kind, key, trace, time in rows
        ]

    async def retry_set_aside(self) -> int:
        """Put all that was set aside back in its place; how many that were."""

        def back(db: apsw.Connection) -> int:
            db.execute("UPDATE outbox SET set_aside_time = NULL, tries = 0 WHERE set_aside_time IS NOT NULL")
            return db.changes()

        count = await self._store.write(back)
        self._show()
        self._look.set()
        return count

    async def run(self) -> None:
        """Hand over until cancelled."""
        self._show()
        async with asyncio.TaskGroup() as lanes:
            while True:
                self._look.clear()
                for lane in self._idle_lanes():
                    self._working.add(lane)
                    lanes.create_task(self._work(lane))
                await self._look.wait()

    def _count(self, which: str) -> int:
        sql = f"SELECT count(*) FROM outbox WHERE {which}"  # noqa: S608 - both are written in this file
        return int(self._store.read(lambda db: db.execute(sql).get))

    def _idle_lanes(self) -> list[str]:
        rows = self._store.read(
            lambda db: db.execute("SELECT DISTINCT lane FROM outbox WHERE set_aside_time IS NULL").fetchall()
        )
        return [str(row[0]) for row in rows if row[0] not in self._working]

    def _next(self, lane: str) -> _Item | None:
        rows: list[Any] = self._store.read(
            lambda db: db.execute(
                "SELECT number, kind, key, body, tries FROM outbox WHERE lane = ? AND set_aside_time IS NULL"
                " ORDER BY number LIMIT 1",
                (lane,),
            ).fetchall()
        )
        for number, kind, key, body, tries in rows:
            return _Item(number=number, kind=kind, key=key, body=body, tries=tries)
        return None

    async def _work(self, lane: str) -> None:
        """Hand over what `lane` holds, in order; ends when nothing waits in it."""
        failures = 0
        try:
            while (item := self._next(lane)) is not None:
                retry_after_s = await self._hand_over(item)
                if retry_after_s is None:
                    failures = 0
                    continue
                await self._pause(self._delay(failures, retry_after_s))
                failures += 1
        finally:
            # No await stands between the last look and this, so a put is seen here or by the next look.
            self._working.discard(lane)

    def _delay(self, failures: int, least: float) -> float:
        delay = min(LONGEST_DELAY_S, FIRST_DELAY_S * 2.0 ** min(failures, 10))
        return max(least, delay * self._rng.uniform(*_JITTER))

    async def _pause(self, seconds: float) -> None:
        """Wait, or until somebody wakes all that waits."""
        waits = [
            asyncio.ensure_future(self._clock.sleep(seconds)),
            asyncio.ensure_future(self._hurry.wait()),
        ]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)

    async def _hand_over(self, item: _Item) -> float | None:
        """None when `item` is out of the way, else the least seconds until its next try."""
        try:
            sender = self._senders.get(item.kind)
            if sender is None:
                await self._put_aside(item, f"nothing here hands over {item.kind!r}")
                return None
            answer = await sender(item.key, item.body)
            await self._store.write(lambda db: self._forget(db, item, answer or b""))
        except StoreFull:
            return 0.0  # handed over again with the same key once there is room
        except Exception as error:  # noqa: BLE001 - whatever a sender fails with is one failed try
            return await self._failed(item, error)
        return None

    def _forget(self, db: apsw.Connection, item: _Item, answer: bytes) -> None:
        if self._settled is not None:
            self._settled(db, item.kind, item.key, answer)
        db.execute("DELETE FROM outbox WHERE number = ?", (item.number,))

    async def _failed(self, item: _Item, error: Exception) -> float | None:
        if isinstance(error, RemoteError) and retriable(error.code):
            log.info("handover_waits", kind=item.kind, code=error.code.name, reason=error.reason)
            return error.retry_after_s or 0.0
        trace = _trace(error)
        log.warning("handover_failed", kind=item.kind, tries=item.tries + 1, trace=trace)
        with suppress(StoreFull):
            if item.tries + 1 >= TRIES:
                await self._put_aside(item, trace)
                return None
            sql = "UPDATE outbox SET tries = tries + 1, trace = ? WHERE number = ?"
            await self._store.write(lambda db: db.execute(sql, (trace, item.number)).fetchall())
        return 0.0

    async def _put_aside(self, item: _Item, trace: str) -> None:
        sql = "UPDATE outbox SET set_aside_time = ?, trace = ?, tries = tries + 1 WHERE number = ?"
        row = (micros(self._clock.now()), trace, item.number)
        await self._store.write(lambda db: db.execute(sql, row).fetchall())
        self._show()

    def _show(self) -> None:
        if self._board is None:
            return
        count = self._count("set_aside_time IS NOT NULL")
        if count:
            self._board.trouble(_TROUBLE, f"{count} could not be handed over and were set aside.")
        else:
            self._board.clear(_TROUBLE)


def _trace(error: Exception) -> str:
    """Why a try failed; of errors that are none of a service's answers, where, not their text."""
    if isinstance(error, RemoteError):
        return str(error)
    return logs.stack_of(error)
