"""Catching up with WhatsApp: from its events to batches that the agent service has on its disk, as one group.

The wire is in this process and gives what it has at once; the agent service, also here, takes everything. The
store is a file. Times are seconds, memory is resident pages of this process in units of 1,000,000 bytes.
"""

import asyncio
import random
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, cast

import apsw
import psutil  # type: ignore[import-untyped]
from onechat_runtime.channels import open_channel
from onechat_runtime.clock import SystemClock
from onechat_runtime.outbox import Outbox
from onechat_runtime.store import Store, migrations_in
from onechat_runtime.tokens import ensure_tokens, read_token
from onechat_whatsapp.adapters.agent import Agent
from onechat_whatsapp.batching import PENDING_MOST, Batching
from onechat_whatsapp.catch_up import CatchUp
from onechat_whatsapp.directory import Directory
from onechat_whatsapp.domain.names import Contact
from onechat_whatsapp.handover import Handover
from onechat_whatsapp.reading import Reading
from onechat_whatsapp.wire.events import CaughtUp, Connected, Heard, WireEvent
from onechat_whatsapp.wire.ports import GroupRow, Me, WhatsAppWire

from bench.figures import Figure, figure, milliseconds, ratio
from bench.noted_agent import NotedAgent, noted_agent
from bench.scale import Scale

TITLE: Final = "Catching up with WhatsApp"
ABOUT: Final = (
    "Private chats in turn, one message each second of their own time, so that most make a batch of their "
    "own. They are read, named, cleaned of the user's number, stored, made into batches and handed over as "
    "one group. The baseline puts the same texts into a plain SQLite file, with a commit for as many as are "
    "stored together at most."
)
AT_LEAST: Final = 500.0  # messages a second; all that comes in the minute that is waited
MORE_AT_MOST_MB: Final = 60.0
MB: Final = 1_000_000
_BEGAN: Final = datetime(2026, 11, 30, 12, tzinfo=UTC)
_WITHIN_S: Final = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Round:
    """What one catch-up took."""

    closed_s: float  #: until all batches were on disk
    handed_over_s: float  #: until the agent service had all
    batches: int
    more_mb: float


class _Account:
    """What a wire says of a session without contacts and groups."""

    async def me(self) -> Me | None:
        return Me(number="15550000000@s.whatsapp.net", lid="99887766554433@lid", push_name="Me")

    async def contacts(self) -> list[Contact]:
        return []

    async def groups(self) -> list[GroupRow]:
        return []

    async def number_of(self, lid: str) -> str:
        return ""

    async def lid_of(self, number: str) -> str:
        return ""


def _events(messages: int, chats: int) -> list[WireEvent]:
    heard: list[WireEvent] = []
    for number in range(messages):
        chat = f"1556{number % chats:07d}@s.whatsapp.net"
        heard.append(
            Heard(
                message_id=f"3EB0{number:016X}",
                chat=chat,
                sender=chat,
                sender_alt="",
                recipient_alt="",
                from_me=False,
                is_group=False,
                text=_text(number),
                mentions=(),
                quoted_author="",
                push_name=f"Person {number % chats}",
                time=_BEGAN + timedelta(seconds=number),
                retry=0,
            )
        )
    return [Connected(), *heard, CaughtUp(count=messages)]


def _text(number: int) -> str:
    return f"Message {number}: " + "are we still on for Thursday? " * (1 + number % 5)


async def _caught_up(events: Sequence[WireEvent], folder: Path, agent: NotedAgent, token: str) -> _Round:
    released, handed_over = asyncio.Event(), asyncio.Event()
    clock = SystemClock()
    before_mb = _rss_mb()
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(
            Store.open(
                folder / "store.db",
                component="whatsapp",
                migrations=migrations_in("onechat_whatsapp.migrations"),
                clock=clock,
            )
        )
        channel = await stack.enter_async_context(open_channel(agent.address, token=token, name="agent"))

        def reached(place: str) -> None:
            if place == "batches_released":
                released.set()
            if place == "batches_handed_over":
                handed_over.set()

        rng = random.Random(1)
        handover = Handover(Agent(channel), store, clock, rng, reached)
        outbox = Outbox(store, clock, rng, handover.senders, handover.settled)
        handover.go_by(outbox)
        batching = Batching(store, handover, clock, UTC, reached)
        catch_up = CatchUp(batching, clock, linked=True)
        wire = cast(WhatsAppWire, _Account())
        reading = Reading(wire, Directory(wire, lambda _: False, clock), batching, clock)
        tasks = [asyncio.ensure_future(job()) for job in (batching.run, catch_up.run, outbox.run)]
        began, known = time.monotonic(), len(agent.came)
        for event in events:
            await catch_up.hear(event)
            await reading.hear(event)
        await released.wait()
        closed_s, batches = time.monotonic() - began, handover.waiting()
        async with asyncio.timeout(_WITHIN_S):
            while len(agent.came) - known < batches:
                handed_over.clear()
                await handed_over.wait()
        handed_over_s, more_mb = time.monotonic() - began, _rss_mb() - before_mb
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return _Round(closed_s=closed_s, handed_over_s=handed_over_s, batches=batches, more_mb=more_mb)


def _rss_mb() -> float:
    return float(psutil.Process().memory_info().rss / MB)


def _plain_s(messages: int, folder: Path) -> float:
    """How long the baseline takes."""
    db = apsw.Connection(str(folder / "plain.db"))
    db.pragma("journal_mode", "wal")
    db.pragma("synchronous", "full")
    db.execute("CREATE TABLE texts (number INTEGER PRIMARY KEY, text TEXT NOT NULL)")
    began = time.monotonic()
    for first in range(0, messages, PENDING_MOST):
        rows = [(number, _text(number)) for number in range(first, min(messages, first + PENDING_MOST))]
        with db:
            db.executemany("INSERT INTO texts VALUES (?, ?)", rows)
    took_s = time.monotonic() - began
    db.close()
    return took_s


async def _rounds(scale: Scale) -> AsyncIterator[tuple[float, _Round]]:
    """The baseline's time and the catch-up of each round."""
    events = _events(scale.caught_up, max(1, scale.caught_up // 25))
    with tempfile.TemporaryDirectory(prefix="onechat-bench-") as kept:
        ensure_tokens(Path(kept))
        token = read_token(Path(kept) / "tokens" / "whatsapp")
        for _ in range(scale.rounds):
            async with noted_agent(Path(kept)) as agent:
                with tempfile.TemporaryDirectory(prefix="onechat-bench-") as made:
                    plain_s = _plain_s(scale.caught_up, Path(made))
                    yield plain_s, await _caught_up(events, Path(made) / "whatsapp", agent, token)


async def measure(scale: Scale) -> list[Figure]:
    """The figures of one run."""
    plain: list[float] = []
    rounds: list[_Round] = []
    async for plain_s, one in _rounds(scale):
        plain.append(plain_s)
        rounds.append(one)
    whole = [one.handed_over_s for one in rounds]
    return [
        figure("messages", [scale.caught_up], ""),
        figure("batches", [one.batches for one in rounds], ""),
        milliseconds("baseline: the texts into a file", plain),
        milliseconds("until the batches are on disk", [one.closed_s for one in rounds]),
        milliseconds("until the agent service has them", whole),
        ratio("the same, of the baseline", whole, plain),
        figure("messages a second", [scale.caught_up / seconds for seconds in whole], "", at_least=AT_LEAST),
        figure(
            "RSS more, the most of a round",
            [max(one.more_mb for one in rounds)],
            "MB",
            at_most=MORE_AT_MOST_MB,
        ),
    ]
