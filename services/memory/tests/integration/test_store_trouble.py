"""A full disk and undone commits: nothing half-written stays, and the views in memory follow the disk."""

import asyncio
import threading
from collections.abc import AsyncIterator

import apsw
import pytest
from grpc import StatusCode
from onechat.memory.v1.log_pb2 import ViewLimits
from onechat_memory.adapters import contract_in
from onechat_memory.bells import Bells
from onechat_memory.chat_logs import ChatLogs
from onechat_memory.domain.leases import LogId
from onechat_runtime.errors import RemoteError, StoreFull

from tests.fakes.memory_at_hand import at_hand
from tests.fakes.memory_server import LOG, MemoryServer, new_message

CHAT, COMPACTION = ViewLimits(high_bytes=2_400, low_bytes=1_200), ViewLimits(high_bytes=1_200, low_bytes=600)


@pytest.fixture
async def full_soon(open_memory) -> AsyncIterator[MemoryServer]:
    """A service with a view near its limit, over a store with hardly any room left."""
    async with open_memory() as memory:
        await memory.create("small", chat_view=CHAT, compaction_view=COMPACTION)
        await memory.append(*["w" * 100] * 20, log="small")
        pages = await memory.store.write(lambda db: db.execute("PRAGMA page_count").get)
        await memory.store.write(lambda db: db.execute(f"PRAGMA max_page_count = {pages + 4}").get)
        yield memory


async def make_room(memory: MemoryServer) -> None:
    await memory.store.write(lambda db: db.execute("PRAGMA max_page_count = 1000000").get)


async def test_no_space_in_the_middle_of_an_append_is_refused_and_works_again_later(full_soon, open_memory):
    memory = full_soon
    before, stats = await memory.view("small"), await memory.stats("small")
    messages = [new_message(f"m{number}", f"{number} " + "v" * 450) for number in range(60)]

    with pytest.raises(RemoteError) as refused:
        await memory.append(*messages, log="small")
    seen, seen_stats = await memory.view("small"), await memory.stats("small")
    await make_room(memory)
    answer = await memory.append(*messages, log="small")

    assert (refused.value.code, refused.value.reason) == (StatusCode.RESOURCE_EXHAUSTED, "STORE_FULL")
    assert "Free some space" in refused.value.message
    assert (seen, seen_stats) == (before, stats)
    assert [one.first_id for one in answer.appended] == list(range(20, 80))
    live = await memory.view("small")
    assert memory.store.read(lambda db: db.execute("PRAGMA integrity_check").get) == "ok"
    assert live.length == 80
    assert live.bytes == sum(len(line.split("|", 1)[1]) for line in live.text.splitlines()[1:-1])


async def test_no_space_at_any_page_of_an_append_leaves_the_views_in_memory_as_they_were(tmp_path, clock):
    """The messages may find room, and the lines that were made from them in memory not."""
    messages = [new_message(f"m{number}", f"{number} " + "v" * 300) for number in range(24)]
    refused = 0
    async with at_hand(tmp_path / "often", clock) as memory, at_hand(tmp_path / "never", clock) as never:
        for one in (memory, never):
            await one.create("small", chat_view=CHAT, compaction_view=COMPACTION)
            await one.append(*(new_message(f"w{number}", "w" * 100) for number in range(20)), log="small")
        pages = await memory.store.write(lambda db: db.execute("PRAGMA page_count").get)
        while True:
            most = pages + refused
            await memory.store.write(lambda db, most=most: db.execute(f"PRAGMA max_page_count = {most}").get)
            try:
                await memory.append(*messages, log="small")
            except StoreFull:
                refused += 1
                continue
            break
        await make_room(memory)
        await never.append(*messages, log="small")
        for number in range(30):
            for one in (memory, never):
                await one.append(new_message(f"n{number}", f"{number} " + "n" * 90), log="small")
            assert await memory.view("small") == await never.view("small")

    assert refused > 2


async def test_an_append_that_is_undone_with_its_whole_commit_leaves_no_line_in_memory(memory, clock):
    """Its own job had succeeded: only the commit that it shared with others was given up."""
    logs = ChatLogs(memory.store, clock, Bells(clock))
    one, two = (contract_in.new_messages([new_message(key, key * 20)]) for key in "ab")
    await logs.append(LogId(LOG), contract_in.new_messages([new_message("0", "first")]))
    at_work, held = threading.Event(), threading.Event()
    holder = asyncio.create_task(memory.store.write(lambda db: at_work.set() or held.wait(10)))
    await asyncio.to_thread(at_work.wait, 10)

    appending = asyncio.create_task(logs.append(LogId(LOG), one))
    for _ in range(3):  # until its job stands in the writer's queue
        await asyncio.sleep(0)
    breaking = asyncio.create_task(memory.store.write(_give_the_transaction_up))
    for _ in range(2):  # it begins, and its job is handed over
        await asyncio.sleep(0)
    held.set()
    await holder
    outcomes = await asyncio.gather(appending, breaking, return_exceptions=True)
    made = await logs.append(LogId(LOG), two)
    shown = await logs.fitted_view(LogId(LOG))

    assert [type(outcome) for outcome in outcomes] == [ZeroDivisionError] * 2
    assert (made.appended[0].first, made.length) == (1, 2)
    assert shown.text == f"<chat>\n0+1|user: first\n1+1|user: {'b' * 20}\n</chat>"
    assert (shown.lines, shown.size) == (2, 11 + 26)


def _give_the_transaction_up(db: apsw.Connection) -> None:
    db.execute("ROLLBACK")
    raise ZeroDivisionError
