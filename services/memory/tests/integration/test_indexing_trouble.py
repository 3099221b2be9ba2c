"""The index of words on a full disk and after a kill: nothing left out, nothing taken twice."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from onechat_memory.adapters.search import STEP_MESSAGES
from onechat_memory.indexing import QUIET_S, REST_S
from onechat_runtime.channels import open_channel
from onechat_runtime.errors import RemoteError
from onechat_runtime.tokens import read_token

from tests.fakes.disk import Disk
from tests.fakes.killable_memory import Remote, killable
from tests.fakes.memory_server import LOG, MemoryServer, new_message, remembering

WITHIN_S = 10.0  # of real time


async def searchable(memory: MemoryServer, log: str = LOG) -> int:
    return (await memory.stats(log)).searchable_messages


async def until(true: Callable[[], Any]) -> None:
    async with asyncio.timeout(WITHIN_S):
        while not await true():
            await asyncio.sleep(0.005)


async def test_a_full_disk_undoes_a_step_whole_and_the_next_one_makes_it(open_memory, disk):
    async with open_memory(vfs=disk.name) as memory:
        await memory.create()
        await memory.append(*["word"] * 50)
        disk.full = True

        with pytest.raises(RemoteError) as refused:
            await memory.search("word")
        assert refused.value.reason == "STORE_FULL"
        assert (await searchable(memory), kept_rows(memory)) == (0, 0)

        disk.full = False
        assert await memory.found("word", size=1) == [49]
        assert kept_rows(memory) == 50


async def test_the_service_lives_on_when_a_quiet_moment_finds_the_disk_full(open_memory, disk, idle_clock):
    async with open_memory(vfs=disk.name, idle_clock=idle_clock) as memory:
        await memory.create()
        await memory.append("word")
        disk.full = True

        async def rests() -> bool:
            if idle_clock.sleepers == [QUIET_S]:
                idle_clock.advance(QUIET_S)
            return idle_clock.sleepers == [REST_S]

        await until(rests)
        disk.full = False
        idle_clock.advance(REST_S)

        async def is_in() -> bool:
            idle_clock.advance(QUIET_S)
            return await searchable(memory) == 1

        await until(is_in)


@pytest.fixture
def disk() -> Any:
    made = Disk("indexing")
    yield made
    made.unregister()


def kept_rows(memory: MemoryServer) -> int:
    return memory.store.read(lambda db: db.execute("SELECT count(*) FROM message_words_docsize").get)


@pytest.mark.parametrize(
    ("point", "steps_done"),
    [
        ("INSERT INTO message_words (rowid", 0),
        ("UPDATE logs SET indexed", 0),
        ("INSERT INTO message_words (message_words", 0),
        ("uncommitted:INSERT INTO message_words (rowid", 0),
        ("committed:INSERT INTO message_words (rowid", 1),
    ],
)
async def test_killed_while_it_fills_it_leaves_nothing_out_and_takes_nothing_twice(
    tmp_path: Path, point: str, steps_done: int
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    async with remembering(data) as memory:
        await memory.create()
        await memory.append(*[new_message(f"m:{number}", f"word {number} 世界") for number in range(200)])
    with killable(data, point, 3) as address:  # the first two writes are the start's
        token = read_token(data / "tokens" / "agent")
        async with open_channel(address, token=token, name="memory") as channel:
            with pytest.raises(RemoteError):
                await Remote(channel).search("word")

    async with remembering(data) as memory:
        done = await searchable(memory)
        assert done == kept_rows(memory)
        assert done % STEP_MESSAGES == 0
        assert done >= steps_done * STEP_MESSAGES
        assert await memory.found("word 世界", size=100) == list(range(199, 99, -1))
        assert await memory.found("word 7*") == [*range(79, 69, -1), 7]
        assert kept_rows(memory) == 200
