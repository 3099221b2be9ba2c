"""What lines cost, counted from the model's answers to the memory service's stats."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fakes.clock import ManualClock
from tests.fakes.compactor_house import CompactorHouse, compacting
from tests.fakes.memory_server import MemoryServer, remembering
from tests.fakes.scripted_model import (
    FOR_EVER,
    Answer,
    Break,
    HttpFault,
    Purpose,
    Script,
    ScriptedModel,
    StreamFault,
    bad_request,
    rate_limited,
)

FITS = "a line"
TOO_LONG = "\n".join(["a" * 900, "b" * 700, "c" * 600])
EMPTY = ""


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def memory_clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def house(
    tmp_path: Path, model: ScriptedModel, clock: ManualClock, memory_clock: ManualClock
) -> AsyncIterator[CompactorHouse]:
    async with (
        remembering(tmp_path / "memory", memory_clock) as memory,
        compacting(tmp_path, memory, model, clock=clock) as made,
    ):
        yield made


def answers(mark: str, *said: str | Answer | HttpFault) -> list[Script]:
    """What the model says to the requests for the line of the message that begins with `mark`, in turn."""
    return [
        Script(
            answer=None if isinstance(one, HttpFault) else Answer(text=one) if isinstance(one, str) else one,
            http=one if isinstance(one, HttpFault) else None,
            purpose=Purpose.COMPACTION,
            contains=f"user: one {mark} ",
        )
        for one in said
    ]


async def costs(memory: MemoryServer) -> tuple[int, int, int, int]:
    """(lines, calls, over-length answers, retries)."""
    stats = await memory.stats("one")
    return stats.model_lines, stats.model_calls, stats.over_length_answers, stats.retries


async def costing(memory: MemoryServer, counted: tuple[int, ...]) -> None:
    """Returns once the lines have cost so much."""
    async with asyncio.timeout(30):
        while await costs(memory) != counted:
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("said", "counted"),
    [
        ((FITS,), (1, 1, 0, 0)),
        ((TOO_LONG, FITS), (1, 2, 1, 1)),
        ((TOO_LONG,) * 5, (1, 5, 5, 4)),
        ((TOO_LONG, EMPTY), (1, 2, 1, 1)),
    ],
    ids=["fits", "too long once", "never short enough", "then nothing"],
)
async def test_a_line_counts_the_answers_it_took(
    house: CompactorHouse, said: tuple[str, ...], counted: tuple[int, ...]
) -> None:
    house.scripted.script(*answers("m", *said))

    await house.remember("one", 1, "m")
    await house.unbuilt("one")

    assert await costs(house.memory) == counted


@pytest.mark.parametrize(
    "nothing",
    [EMPTY, Answer(refusal="No."), bad_request("Invalid prompt.", code="invalid_prompt")],
    ids=["empty", "refused", "invalid"],
)
async def test_an_answer_without_a_line_counts_and_the_next_call_asks_again(
    house: CompactorHouse, memory_clock: ManualClock, nothing: str | Answer | HttpFault
) -> None:
    house.scripted.script(*answers("m", nothing, FITS))
    await house.remember("one", 1, "m")
    await house.failing("one", 1)
    assert await costs(house.memory) == (0, 1, 0, 0)

    memory_clock.advance(10)
    await house.unbuilt("one")

    assert await costs(house.memory) == (1, 2, 0, 1)


@pytest.mark.parametrize(
    "nothing",
    [EMPTY, Answer(refusal="No."), bad_request("Invalid prompt.", code="invalid_prompt")],
    ids=["empty", "refused", "invalid"],
)
async def test_a_line_that_is_too_long_is_kept_when_no_shorter_one_can_be_had(
    house: CompactorHouse, nothing: str | Answer | HttpFault
) -> None:
    """It was paid for, and stands for more than the head of its message would."""
    house.scripted.script(*answers("m", TOO_LONG, nothing))
    await house.remember("one", 1, "m")

    await house.unbuilt("one")

    assert await costs(house.memory) == (1, 2, 1, 1)
    assert (await house.memory.zoom("0+0", log="one")).lines[0].text == "c" * 600


@pytest.mark.parametrize("break_", [None, Break.CUT], ids=["busy", "broken off"])
async def test_a_call_that_was_not_answered_counts_nothing(
    house: CompactorHouse, clock: ManualClock, break_: Break | None
) -> None:
    fault = StreamFault(kind=break_) if break_ else None
    house.scripted.script(
        Script(http=None if fault else rate_limited(), stream=fault, purpose=Purpose.COMPACTION),
        *answers("m", FITS),
    )
    await house.remember("one", 1, "m")
    await clock.until_sleeping()
    assert await costs(house.memory) == (0, 0, 0, 0)

    clock.advance(10)
    await house.unbuilt("one")

    assert await costs(house.memory) == (1, 1, 0, 0)


async def test_answers_that_an_outage_broke_off_count_and_the_line_is_asked_for_from_the_start(
    house: CompactorHouse, clock: ManualClock
) -> None:
    house.scripted.script(*answers("m", TOO_LONG, TOO_LONG, rate_limited(), TOO_LONG, FITS))
    await house.remember("one", 1, "m")
    await clock.until_sleeping()
    await costing(house.memory, (0, 2, 2, 1))

    clock.advance(10)
    await house.unbuilt("one")

    assert await costs(house.memory) == (1, 4, 3, 3)
    assert [len(record.body["input"]) for record in house.requests("one") if record.body] == [2, 4, 6, 2, 4]


async def test_a_mixture_counts_what_its_lines_count(
    house: CompactorHouse, clock: ManualClock, memory_clock: ManualClock
) -> None:
    """Eight messages side by side, and two merges of what is long; the order changes no sum."""
    house.scripted.script(
        *answers("a", FITS),
        *answers("b", TOO_LONG, FITS),
        *answers("c", *(TOO_LONG,) * 5),
        *answers("d", EMPTY, FITS),
        *answers("e", rate_limited(), FITS),
        *answers("f", Answer(refusal="No."), EMPTY, TOO_LONG, FITS),
        *answers("g", FITS),
        *answers("h", EMPTY, EMPTY, EMPTY),
        Script(
            answer=Answer(text=FITS), purpose=Purpose.COMPACTION, contains="for messages ", times=FOR_EVER
        ),
    )
    for mark in "abcdefgh":
        await house.remember("one", 1, mark)
    await house.turned("one", clock, memory_clock)

    stats = await house.memory.stats("one")
    assert (stats.degraded_nodes, stats.failing_nodes) == (1, 0)
    calls = 1 + 2 + 5 + 2 + 1 + 4 + 1 + 3 + 2
    assert await costs(house.memory) == (7 + 2, calls, 1 + 5 + 1, 1 + 4 + 1 + 3 + 2)
