"""The rooms of the link over a fake wire, on a clock that stands still, with a user who hears notices."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from zoneinfo import ZoneInfo

from onechat.whatsapp.v1 import whatsapp_service_pb2 as v1
from onechat_runtime.health import HealthBoard
from onechat_runtime.outbox import Outbox
from onechat_runtime.store import Store, migrations_in
from onechat_whatsapp.hearing import Hearing
from onechat_whatsapp.link_wiring import LinkRooms, opened_link
from onechat_whatsapp.notices import KIND, notice_sender

from tests.fakes.clock import ManualClock
from tests.fakes.stores import store_at
from tests.fakes.whatsapp_account import OWNER, WhatsAppAccount
from tests.fakes.whatsapp_scripts import NOON
from tests.fakes.whatsapp_wire import FakeWire

ROME = ZoneInfo("Europe/Rome")
NAMES = {"15550002222@s.whatsapp.net": "Bob", "120363000000000001@g.us": "Garden"}


class SlowAccount(WhatsAppAccount):
    """An account whose answers can be held back."""

    hold: asyncio.Event | None = None  #: while set, codes and logging out wait for it
    mute_dials = 0  #: so many of the next connections stand and bring no login

    async def dial(self) -> None:
        me = self.me
        if self.mute_dials:
            self.mute_dials -= 1
            self.me = None
        try:
            await super().dial()
        finally:
            self.me = me

    async def pair(self, phone: str) -> str:
        code = await super().pair(phone)
        if self.hold is not None:
            await self.hold.wait()
        return code

    async def logout(self) -> None:
        if self.hold is not None:
            await self.hold.wait()
        await super().logout()


@dataclass
class User:
    """Hears each notice once, by its key."""

    heard: dict[str, str] = field(default_factory=dict)

    async def tell_user(self, key: str, text: str) -> None:
        assert key.isascii()
        assert len(key) <= 200
        assert len(text) <= 2_000
        self.heard.setdefault(key, text)

    @property
    def notices(self) -> list[str]:
        """What was heard, in order."""
        return list(self.heard.values())


class Call:
    """What a servicer is told of the call that it answers, as far as the link's looks at it."""

    async def send_initial_metadata(self, metadata: tuple[()]) -> None:
        """Nobody waits for it here."""


@dataclass
class Running:
    """A gateway's link at work."""

    rooms: LinkRooms
    store: Store
    board: HealthBoard
    wire: FakeWire
    bench: "LinkBench"

    async def status(self) -> v1.GetStatusResponse:
        """What GetStatus answers."""
        return await self.rooms.servicer.GetStatus(v1.GetStatusRequest(), None)

    async def pair(self, phone: str = "+1 555 000 1111", request_id: str = "") -> v1.PairResponse:
        """What Pair answers."""
        return await self.rooms.servicer.Pair(v1.PairRequest(phone=phone, request_id=request_id), Call())

    async def unlink(self, request_id: str = "") -> bool:
        """What Unlink answers."""
        response = await self.rooms.servicer.Unlink(v1.UnlinkRequest(request_id=request_id), None)
        return bool(response.told)

    async def until(self, reached: Callable[[], bool]) -> None:
        """Return once it is reached; TimeoutError after five seconds."""
        async with asyncio.timeout(5):
            while not reached():
                await asyncio.sleep(0.001)

    async def settled(self) -> None:
        """Return once all that has come is dealt with, and the user has heard what was to be told."""
        for _ in range(4):
            await self.wire.idle()
            for _ in range(20):
                await asyncio.sleep(0)
            await self.store.write(lambda db: None)
        await self.until(lambda: not self.store.read(lambda db: Outbox.queued(db, kind=KIND, lane=KIND)))

    async def after(self, seconds: float, *, step_s: float | None = None) -> None:
        """Let `seconds` pass, in one step or in steps of `step_s`, each of which is dealt with."""
        left = seconds
        while left > 0:
            await self.settled()
            self.bench.clock.advance(min(left, step_s or left))
            left -= step_s or left
        await self.settled()


class LinkBench:
    """Runs gateways' links on one store and one account, one after the other."""

    def __init__(self, folder: Path, account: SlowAccount) -> None:
        self.folder = folder
        self.account = account
        self.clock = ManualClock(NOON)
        self.user = User()
        self.names_asked = 0  #: how often a chat's name was asked for
        self.name_waits = asyncio.Event()  #: while it is not set, names wait
        self.name_waits.set()
        self.unlinked = 0  #: how often the rooms that read were told of an unlinking
        self.vfs: str | None = None  #: of the store; None for SQLite's own

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Running]:
        """A link that runs until the end of the block, then ends as by SIGTERM."""
        board, wire = HealthBoard(self.clock), FakeWire(self.account)
        migrations = migrations_in("onechat_whatsapp.migrations")
        path = self.folder / "store.db"
        async with store_at(
            path, component="whatsapp", migrations=migrations, clock=self.clock, vfs=self.vfs
        ) as store:
            outbox = Outbox(
                store, self.clock, random.Random(1), {KIND: notice_sender(self.user)}, board=board
            )
            rooms = await opened_link(
                wire,
                store,
                outbox,
                board=board,
                clock=self.clock,
                zone=ROME,
                name_of=self._name_of,
                waiting=lambda: 3,
                unlinked=self._unlinked,
            )
            hearing = Hearing(wire, rooms.hears, board, self.clock)
            running = Running(rooms=rooms, store=store, board=board, wire=wire, bench=self)
            async with asyncio.TaskGroup() as tasks:
                jobs = [tasks.create_task(job()) for job in (*rooms.background, outbox.run, hearing.run)]
                yield running
                for job in jobs:
                    job.cancel()

    def _unlinked(self) -> None:
        self.unlinked += 1

    async def _name_of(self, chat: str) -> str:
        self.names_asked += 1
        await self.name_waits.wait()
        return NAMES.get(chat, chat)


def linked_account() -> SlowAccount:
    """An account whose session is here."""
    return SlowAccount(OWNER)
