"""Lines built side by side: what goes ahead, what waits, what a slow or a failing one does to the others."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from onechat_agent.adapters.memory import Asked, Lease, MemoryClient, Piece

from tests.fakes.clock import ManualClock
from tests.fakes.compactor_house import compacting
from tests.fakes.memory_server import MemoryServer, remembering
from tests.fakes.scripted_model import (
    FOR_EVER,
    Answer,
    Break,
    Gate,
    Purpose,
    Script,
    ScriptedModel,
    StreamFault,
    bad_request,
    server_error,
)

COMPACTION = Purpose.COMPACTION
ANSWER = Answer(text="a line")
STARTED = 4  # events: the two that come before the model has read the request, and two of its answer
ANNOUNCED = 2
SHORT = Script(answer=ANSWER, purpose=COMPACTION, times=FOR_EVER)  # so short that merges need no model


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def memory_clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def still_memory(tmp_path: Path, memory_clock: ManualClock) -> AsyncIterator[MemoryServer]:
    """A memory whose time only the test turns: no lease ends by itself."""
    async with remembering(tmp_path / "memory", memory_clock) as server:
        yield server


def slow(stall: Gate, *, events: int = STARTED, gate: Gate | None = None, contains: str = "") -> Script:
    """An answer that waits at `stall` after some events, and at `gate` before any."""
    return Script(
        answer=ANSWER,
        stream=StreamFault(kind=Break.STALL, after=events),
        stall=stall,
        gate=gate,
        purpose=COMPACTION,
        contains=contains,
    )


class SlowToHear(MemoryClient):
    """A way to the memory on which a give-back is answered after the piece was handed out again."""

    def __init__(self, inner: MemoryClient) -> None:
        self._inner = inner
        self._given_back = False
        self._out_again = asyncio.Event()

    async def lease(self, holder: str, pieces: int, wait_s: float) -> Lease:
        lease = await self._inner.lease(holder, pieces, wait_s)
        if self._given_back:
            self._out_again.set()
        return lease

    async def complete(self, lease: Lease, piece: Piece, line: str, builder: str, asked: Asked) -> None:
        await self._inner.complete(lease, piece, line, builder, asked)

    async def fail(self, lease: Lease, piece: Piece, asked: Asked, *, content: bool) -> None:
        await self._inner.fail(lease, piece, asked, content=content)
        self._given_back = True
        await self._out_again.wait()


async def test_one_call_goes_ahead_in_a_cold_prefix_and_seven_follow_its_first_words(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """Eight that begin together would each pay for the whole prefix."""
    before, middle = Gate(), Gate()
    model.script(slow(middle, gate=before, contains="user: one "))
    async with compacting(tmp_path, memory, model) as house:
        await house.remember("one", 8)
        await before.reached()
        await house.remember("two")
        await house.asked(1, "two")  # leased after all eight, and asked for
        assert len(house.requests("one")) == 1

        before.open()
        assert len(await house.asked(8, "one")) == 8
        middle.open()
        await house.unbuilt("one")


async def test_the_words_before_an_answer_let_nobody_follow(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """They are sent before the model has read the request."""
    middle = Gate()
    model.script(slow(middle, events=ANNOUNCED, contains="user: one "))
    async with compacting(tmp_path, memory, model) as house:
        await house.remember("one", 8)
        await middle.reached()
        await house.remember("two")
        await house.unbuilt("two")
        assert len(house.requests("one")) == 1

        middle.open()
        await house.unbuilt("one")


async def test_a_slow_piece_holds_up_no_other(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    middle = Gate()
    model.script(slow(middle, contains="user: one slow "), SHORT)
    async with compacting(tmp_path, memory, model) as house:
        await house.remember("one", 1, "slow")
        await middle.reached()
        await house.remember("one", 19)
        await house.remember("two", 5)
        await house.unbuilt("two")
        await house.unbuilt("one", leaves=1)

        middle.open()
        await house.unbuilt("one")


async def test_eight_of_a_log_and_sixteen_of_all_are_out_at_once(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    middle = Gate()
    model.script(
        Script(
            answer=ANSWER,
            stream=StreamFault(kind=Break.STALL, after=STARTED),
            stall=middle,
            purpose=COMPACTION,
            times=FOR_EVER,
        )
    )
    logs = ("one", "two", "three")
    async with compacting(tmp_path, memory, model, logs=logs) as house:
        for log in logs:
            await house.remember(log, 12)
        await house.asked(16)
        assert not house.requests("three")

        middle.open()
        for log in logs:
            await house.unbuilt(log)
        assert (house.counted.most["one"], house.counted.most["two"]) == (8, 8)
        assert (max(house.counted.most.values()), house.counted.most_of_all) == (8, 16)


async def test_when_the_first_call_is_refused_the_next_goes_ahead_alone(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    before = Gate()
    refused = bad_request("Invalid prompt.", code="invalid_prompt")
    model.script(
        Script(http=refused, purpose=COMPACTION, contains="user: one "),
        Script(answer=ANSWER, gate=before, purpose=COMPACTION, contains="user: one "),
    )
    async with compacting(tmp_path, memory, model) as house:
        await house.remember("one", 8)
        await before.reached()
        await house.remember("two")
        await house.unbuilt("two")
        assert len(house.requests("one")) == 2

        before.open()
        await house.unbuilt("one", leaves=1)  # the refused one rests


async def test_an_outage_that_the_first_call_meets_is_asked_about_by_no_other(
    tmp_path: Path, still_memory: MemoryServer, model: ScriptedModel, clock: ManualClock
) -> None:
    """All eight go back, count nothing, and are handed out again when the pause is over."""
    model.fail(server_error(), purpose=COMPACTION)
    async with compacting(tmp_path, still_memory, model, clock=clock) as house:
        await house.remember("one", 8)
        await clock.until_sleeping()
        stats = await still_memory.stats("one")
        assert (len(house.requests()), clock.sleepers[0]) == (1, 10)
        assert (stats.unbuilt_leaves, stats.failing_nodes, stats.model_calls, stats.retries) == (8, 0, 0, 0)

        clock.advance(10)
        await house.unbuilt("one")
        assert (await still_memory.stats("one")).degraded_nodes == 0


async def test_a_piece_that_is_out_again_before_its_give_back_is_answered_is_not_lost(
    tmp_path: Path, still_memory: MemoryServer, model: ScriptedModel, clock: ManualClock
) -> None:
    model.fail(server_error(), purpose=COMPACTION)
    async with compacting(tmp_path, still_memory, model, clock=clock, through=SlowToHear) as house:
        await house.remember("one")
        await clock.until_sleeping()
        clock.advance(10)
        await house.unbuilt("one")


async def test_an_outage_that_meets_some_pauses_once_and_keeps_what_the_others_get(
    tmp_path: Path, still_memory: MemoryServer, model: ScriptedModel, clock: ManualClock
) -> None:
    """Five that fail in one moment are one outage: ten seconds, not five minutes."""
    middle = Gate()
    model.script(slow(middle, contains="user: one first "))
    async with compacting(tmp_path, still_memory, model, clock=clock) as house:
        await house.remember("one", 1, "first")
        await middle.reached()
        model.fail(server_error(), times=5, purpose=COMPACTION)
        model.script(SHORT)
        await house.remember("one", 7)
        await house.asked(8)
        middle.open()
        await clock.until_sleeping()
        await house.unbuilt("one", leaves=5)
        assert clock.sleepers == [10]

        clock.advance(10)
        await house.unbuilt("one")
        assert len(house.requests()) == 13


async def test_a_restarted_agent_has_the_pieces_of_its_earlier_life_at_once(
    tmp_path: Path, still_memory: MemoryServer, model: ScriptedModel
) -> None:
    """No lease ends by itself here: another holder frees what the earlier one had."""
    middle = Gate()
    model.script(slow(middle))
    async with compacting(tmp_path, still_memory, model) as house:
        await house.remember("one", 8)
        await middle.reached()

    async with compacting(tmp_path, still_memory, model) as house:
        await house.unbuilt("one")


async def test_a_piece_that_outlives_its_lease_is_not_asked_for_twice(
    tmp_path: Path, still_memory: MemoryServer, model: ScriptedModel, memory_clock: ManualClock
) -> None:
    """The memory service hands it out again after two minutes; whoever works at it has it then once more."""
    middle = Gate()
    model.script(slow(middle, contains="user: one "))
    async with compacting(tmp_path, still_memory, model) as house:
        await house.remember("one")
        await middle.reached()
        memory_clock.advance(121)
        for _ in range(2):  # leased before the first of these or between them
            await house.remember("two")
            await house.unbuilt("two")
        assert len(house.requests("one")) == 1

        middle.open()
        await house.unbuilt("one")
        assert len(house.requests("one")) == 1


async def test_what_a_piece_that_outlived_its_lease_comes_back_with_counts(
    tmp_path: Path, still_memory: MemoryServer, model: ScriptedModel, memory_clock: ManualClock
) -> None:
    """It goes back by the lease that it has then; the old one counts nothing."""
    before = Gate()
    model.script(Script(answer=Answer(text=""), gate=before, purpose=COMPACTION, contains="user: one "))
    async with compacting(tmp_path, still_memory, model) as house:
        await house.remember("one")
        await before.reached()
        memory_clock.advance(121)
        for _ in range(2):
            await house.remember("two")
            await house.unbuilt("two")

        before.open()
        await house.failing("one", 1)


async def test_an_answer_ends_an_outage_and_the_next_one_begins_with_the_shortest_pause(
    tmp_path: Path, still_memory: MemoryServer, model: ScriptedModel, clock: ManualClock
) -> None:
    async with compacting(tmp_path, still_memory, model, clock=clock) as house:
        for _ in range(2):
            model.fail(server_error(), times=2, purpose=COMPACTION)
            await house.remember("one")
            for pause_s in (10, 20):
                await clock.until_sleeping()
                assert clock.sleepers == [pause_s]
                clock.advance(pause_s)
            await house.unbuilt("one")
