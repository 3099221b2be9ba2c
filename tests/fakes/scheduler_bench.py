"""A scheduler's inside on a real store, an alarm that a test turns, and an agent that takes runs.

It can be struck: a kill is raised at a commit or at a call of the agent, and the next start finds what the
disk holds. Seconds; instants are aware and UTC.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import apsw
from onechat_runtime.health import HealthBoard
from onechat_runtime.store import Store, migrations_in
from onechat_scheduler.adapters import schedule_rows
from onechat_scheduler.book import Book, Request
from onechat_scheduler.domain.asked import NewSchedule, When
from onechat_scheduler.domain.schedule import OwnerId, Run, Schedule, ScheduleId
from onechat_scheduler.handover import AGENT, HandOver
from onechat_scheduler.ticker import Ticker

from tests.fakes.clock import ManualClock
from tests.fakes.disk import Disk
from tests.fakes.manual_alarm import ManualAlarm
from tests.fakes.stores import store_at
from tests.fakes.woken_agent import WokenAgent

OWNER = OwnerId("root-id")
START = datetime(2026, 1, 1, 9, tzinfo=UTC)  #: 10:00 in Rome
SOON = "2026-01-01 10:30"  #: in Rome
DUE = START + timedelta(minutes=30)  #: the same
_TURNS = 20  # of the loop, that what a commit set off needs at the most before it waits again


class Killed(BaseException):
    """The process is gone. Nothing that catches errors may catch it."""


class Strikes:
    """Counts the places where a process can be killed, and kills at the one that is drawn."""

    def __init__(self) -> None:
        self.passed = 0
        self.kills = 0
        self.next_at: int | None = None  #: which place kills; None: none

    def place(self) -> None:
        """Raises Killed when it is this one's turn."""
        self.passed += 1
        if self.next_at is not None and self.passed >= self.next_at:
            self.next_at = None
            self.kills += 1
            raise Killed


class StruckStore:
    """A store whose writes can be killed: before, inside and after the commit."""

    def __init__(self, store: Store, strikes: Strikes) -> None:
        self._store = store
        self._strikes = strikes

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def write(self, job: Callable[[apsw.Connection], Any]) -> Any:
        self._strikes.place()

        def struck(db: apsw.Connection) -> Any:
            result = job(db)
            self._strikes.place()
            return result

        result = await self._store.write(struck)
        self._strikes.place()
        return result


@dataclass(kw_only=True)
class Running:
    """One run of the scheduler."""

    store: Store
    board: HealthBoard
    book: Book
    ticker: Ticker
    handover: HandOver
    tasks: list[asyncio.Task[None]]

    async def set(
        self, text: str = "do it", *, at: str | None = None, cron: str | None = None, owner: OwnerId = OWNER
    ) -> Schedule:
        """Set a schedule by the book."""
        made: list[Schedule] = []

        def answer(schedule: Schedule, plan: object) -> bytes:
            made.append(schedule)
            return b""

        new = NewSchedule(owner=owner, text=text, when=When(at=at, cron=cron), backed=True)
        await self.book.create(new, Request(id="", body=b""), answer)
        return made[0]

    async def set_many(self, count: int, instant: datetime) -> None:
        """Set `count` schedules that run once, at `instant`, quicker than by the book."""

        def add(db: apsw.Connection) -> None:
            for number in range(count):
                schedule_rows.add(
                    db,
                    owner=OWNER,
                    text=f"task {number}",
                    at=f"{instant:%Y-%m-%d %H:%M}",
                    cron=None,
                    zone="UTC",
                    backed=True,
                    now=START,
                    next_time=instant,
                )

        await self.store.write(add)
        self.ticker.nudge()

    async def remove(self, schedule: ScheduleId, owner: OwnerId = OWNER) -> None:
        """Remove a schedule by the book."""
        await self.book.delete(owner, schedule, Request(id="", body=b""), lambda count: b"")

    def schedules(self) -> list[Schedule]:
        """All there are."""
        return self.store.read(lambda db: schedule_rows.page(db, None, None, 1_000_000))

    def runs(self) -> list[Run]:
        """All that wait."""
        return self.store.read(lambda db: schedule_rows.runs(db, 1_000_000))

    def agent_serves(self, serving: bool) -> None:
        """What the agent service's health says."""
        self.board.neighbour(AGENT, serving=serving)


class Bench:
    """One scheduler's data, clock and agent, through all its runs."""

    def __init__(
        self, folder: Path, disk: Disk, zone: str = "Europe/Rome", clock: ManualClock | None = None
    ) -> None:
        self.path = folder / "store.db"
        self.disk = disk
        self.zone = ZoneInfo(zone)
        self.clock = clock or ManualClock(START)
        self.alarm = ManualAlarm(self.clock)
        self.strikes = Strikes()
        self.meet(WokenAgent(self.clock))

    def meet(self, agent: WokenAgent) -> None:
        """Have `agent` in the place of the one before, from the next run on."""
        self.agent = agent
        agent.before = agent.after = self.strikes.place

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Running]:
        """A run, ended at the end; what ended it before is raised."""
        board = HealthBoard(self.clock)
        migrations = migrations_in("onechat_scheduler.migrations")
        async with store_at(
            self.path,
            component="scheduler",
            migrations=migrations,
            clock=self.clock,
            board=board,
            vfs=self.disk.name,
        ) as store:
            struck: Any = StruckStore(store, self.strikes)
            handover = HandOver(struck, self.clock, random.Random(1), self.agent, board)
            ticker = Ticker(struck, self.clock, self.alarm, self.zone, handover, board)
            book = Book(store, self.clock, self.zone, ticker.nudge)
            tasks = [asyncio.create_task(ticker.run()), asyncio.create_task(handover.run())]
            try:
                yield Running(
                    store=store, board=board, book=book, ticker=ticker, handover=handover, tasks=tasks
                )
                for task in tasks:
                    if task.done():
                        task.result()
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    async def at_rest(self, running: Running, *, runs_left: int = 0, within_s: float = 30.0) -> None:
        """Return once all waits: nothing is due, and `runs_left` runs wait. Raises what ended a task."""
        async with asyncio.timeout(within_s):
            while True:
                passed = self.strikes.passed
                await self.ticker_at_rest(running)
                # A commit or a call meanwhile may have others due that nobody has looked for yet.
                still = self.strikes.passed == passed
                if still and running.store.read(schedule_rows.waiting) == runs_left:
                    return

    async def until_due(self, running: Running, *, runs_left: int = 0) -> None:
        """Let DUE come, and wait for what it leads to."""
        await self.at_rest(running)
        self.advance_to(DUE)
        await self.at_rest(running, runs_left=runs_left)

    async def ticker_at_rest(self, running: Running) -> None:
        """Return once what was committed so far is told, and all that is due now is recorded."""
        while True:
            # What was committed before is told before this returns; then the loop goes round.
            await running.store.write(lambda db: None)
            for _ in range(_TURNS):
                await asyncio.sleep(0)
            for task in running.tasks:
                if task.done():
                    task.result()
            if self.alarm.is_waited_for:
                return

    def advance_to(self, instant: datetime) -> None:
        """Let the time until `instant` pass."""
        self.alarm.advance((instant - self.clock.now()).total_seconds())


def key_of(schedule: ScheduleId) -> str:
    """The key of its run at DUE."""
    return f"schedule:{schedule}:2026-01-01T09:30Z"


@contextmanager
def made_disk(name: str) -> Iterator[Disk]:
    """A disk that answers syncs at once, for as long as it is needed."""
    disk = Disk(name, waits=False)
    try:
        yield disk
    finally:
        disk.unregister()
