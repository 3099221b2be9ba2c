"""When the index of words is filled: in quiet moments, and before a search answers."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from grpc import StatusCode
from onechat_memory.adapters.search import STEP_MESSAGES, SearchStore
from onechat_memory.indexing import QUIET_S
from onechat_runtime.errors import RemoteError

from tests.fakes.clock import ManualClock
from tests.fakes.memory_server import LOG, MemoryServer

WITHIN_S = 10.0  # of real time
SHORT_S = 1.0  # less than a search keeps for its answer, so that it makes one step


async def searchable(memory: MemoryServer, log: str = LOG) -> int:
    return (await memory.stats(log)).searchable_messages


async def until(true: Callable[[], Any]) -> None:
    async with asyncio.timeout(WITHIN_S):
        while not await true():
            await asyncio.sleep(0.005)


async def pass_quiet_moment(clock: ManualClock) -> None:
    await clock.until_sleeping()
    clock.advance(QUIET_S)


async def test_a_quiet_moment_fills_every_log_and_then_nothing_wakes(open_memory, idle_clock):
    async with open_memory(idle_clock=idle_clock) as memory:
        await memory.create()
        await memory.create("flat", shape="LOG_SHAPE_FLAT")
        await memory.create("staged", state="LOG_STATE_STAGED")
        for log in (LOG, "flat", "staged"):
            await memory.append(*[f"word {number}" for number in range(100)], log=log)

        await pass_quiet_moment(idle_clock)
        await pass_quiet_moment(idle_clock)  # the first one was not quiet

        async def all_in() -> bool:
            return [await searchable(memory, log) for log in (LOG, "flat", "staged")] == [100] * 3

        await until(all_in)
        assert idle_clock.sleepers == []
        assert await memory.found("word", log="staged", size=1) == [99]


async def test_nothing_is_filled_while_messages_come(open_memory, idle_clock):
    async with open_memory(idle_clock=idle_clock) as memory:
        await memory.create()
        for _ in range(5):
            await memory.append("word")
            await pass_quiet_moment(idle_clock)

        await idle_clock.until_sleeping()
        assert await searchable(memory) == 0


async def test_a_message_that_comes_while_it_fills_stops_it_until_it_is_quiet_again(open_memory, idle_clock):
    messages = 10 * 256
    async with open_memory(idle_clock=idle_clock) as memory:
        await memory.create("flat", shape="LOG_SHAPE_FLAT")
        for _ in range(10):
            await memory.append(*["word"] * 256, log="flat")
        await pass_quiet_moment(idle_clock)
        await pass_quiet_moment(idle_clock)

        async def has_begun() -> bool:
            return await searchable(memory, "flat") > 0

        await until(has_begun)
        await memory.append("one more", log="flat")
        await idle_clock.until_sleeping()
        assert await searchable(memory, "flat") < messages
        idle_clock.advance(QUIET_S)

        async def all_in() -> bool:
            return await searchable(memory, "flat") == messages + 1

        await until(all_in)


async def test_logs_take_turns(memory):
    await memory.create("flat", shape="LOG_SHAPE_FLAT")
    await memory.append("word")
    await memory.append("word", log="flat")

    def turns(after: int) -> int | None:
        return memory.store.read(lambda db: SearchStore(db).behind(after))

    assert [turns(after) for after in (0, 1, 2)] == [1, 2, 1]
    await memory.found("word")
    assert [turns(after) for after in (0, 1, 2)] == [2, 2, 2]
    await memory.found("word", log="flat")
    assert turns(0) is None


async def test_new_messages_after_a_fill_are_filled_too(open_memory, idle_clock):
    async with open_memory(idle_clock=idle_clock) as memory:
        await memory.create()
        for filled in (1, 2, 3):
            await memory.append("word")

            async def is_in(filled: int = filled) -> bool:
                idle_clock.advance(QUIET_S)
                return await searchable(memory) == filled

            await until(is_in)


async def test_what_an_earlier_process_left_is_filled(open_memory, idle_clock):
    async with open_memory() as memory:
        await memory.create()
        await memory.append(*["word"] * 50)

    async with open_memory(idle_clock=idle_clock) as memory:
        await pass_quiet_moment(idle_clock)

        async def all_in() -> bool:
            return await searchable(memory) == 50

        await until(all_in)


async def test_a_kept_log_waits_until_it_is_searched(open_memory, idle_clock):
    async with open_memory(idle_clock=idle_clock) as memory:
        await memory.create()
        await memory.create("staged", state="LOG_STATE_STAGED")
        await memory.append("old word")
        await memory.append("new word", log="staged")
        await memory.swap()

        async def new_one_in() -> bool:
            idle_clock.advance(QUIET_S)
            return await searchable(memory) == 1

        await until(new_one_in)
        assert await searchable(memory, "kept") == 0
        assert await memory.found("word", log="kept") == [0]
        assert await searchable(memory, "kept") == 1


async def test_the_index_gives_back_what_a_deleted_logs_words_took(open_memory, idle_clock):
    async with open_memory(idle_clock=idle_clock) as memory:
        await memory.create()
        await memory.create("staged", state="LOG_STATE_STAGED")
        await memory.append(*[f"{number:x}word" for number in range(256)])
        await memory.append("word", log="staged")
        await memory.found("word")
        await memory.swap()

        async def rests() -> bool:
            idle_clock.advance(QUIET_S)
            return await searchable(memory) == 1 and not idle_clock.sleepers

        await until(rests)
        before = kept_bytes(memory)

        await memory.delete("kept")

        async def is_small() -> bool:
            idle_clock.advance(QUIET_S)
            return kept_bytes(memory) < before / 4

        await until(is_small)
        assert await memory.found("word") == [0]


async def test_a_search_without_time_says_how_far_the_index_is_and_the_next_ones_go_on(memory):
    messages = 10 * STEP_MESSAGES
    for _ in range(10):
        await memory.append(*["word"] * STEP_MESSAGES)

    with pytest.raises(RemoteError) as refused:
        await memory.search("word", timeout_s=SHORT_S)
    far = await searchable(memory)

    assert (refused.value.code, refused.value.reason) == (StatusCode.UNAVAILABLE, "INDEX_BEHIND")
    assert 0 < far < messages
    assert f"{far} of {messages}" in refused.value.message
    assert await memory.found("word", size=1) == [messages - 1]


async def test_a_search_that_is_given_up_leaves_what_it_filled(memory):
    await memory.append(*["word"] * 250)

    call = asyncio.create_task(memory.search("word"))
    async with asyncio.timeout(WITHIN_S):
        while not await searchable(memory):
            await asyncio.sleep(0.005)
    call.cancel()

    assert await searchable(memory) > 0
    assert await memory.found("word", size=1) == [249]


async def test_searches_of_one_log_at_once_fill_it_once(memory):
    await memory.append(*["word"] * 250)

    found = await asyncio.gather(*[memory.found("word", size=1) for _ in range(8)])

    assert found == [[249]] * 8
    assert kept_rows(memory) == 250


def kept_rows(memory: MemoryServer) -> int:
    return memory.store.read(lambda db: db.execute("SELECT count(*) FROM message_words_docsize").get)


def kept_bytes(memory: MemoryServer) -> int:
    size = "SELECT sum(length(block)) FROM message_words_data"
    return memory.store.read(lambda db: db.execute(size).get)
