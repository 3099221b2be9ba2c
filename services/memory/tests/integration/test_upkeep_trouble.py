"""A full disk under swaps, rebuilds and deletions: refused whole and asked again, or waited for."""

import asyncio

import pytest
from grpc import StatusCode
from onechat_memory.removing import REST_S
from onechat_runtime.errors import RemoteError

from tests.fakes.disk import Disk
from tests.fakes.memory_server import LOG

LONG = "x" * 600


@pytest.fixture
def disk():
    made = Disk("upkeep")
    yield made
    made.unregister()


@pytest.fixture
async def memory(open_memory, disk):
    async with open_memory(vfs=disk.name) as server:
        await server.create()
        await server.append(LONG, "old")
        await server.complete("0+1", "l" * 300, builder="demo")
        await server.create("staged", state="LOG_STATE_STAGED")
        await server.append("new", log="staged")
        yield server


async def refused_then_done(memory, disk, call):
    """What `call` gives once there is room, after it was refused without any."""
    before = await memory.logs(), await memory.stats()
    disk.full = True
    with pytest.raises(RemoteError) as refused:
        await call()
    assert (refused.value.code, refused.value.reason) == (StatusCode.RESOURCE_EXHAUSTED, "STORE_FULL")
    assert (await memory.logs(), await memory.stats()) == before
    disk.full = False
    return await call()


async def test_a_swap_that_finds_no_room_is_refused_whole(memory, disk):
    log = await refused_then_done(memory, disk, lambda: memory.swap(request_id="swap"))

    assert (log.generation, log.length) == (2, 1)
    assert (await memory.append("newer")).length == 2
    assert (await memory.view()).text == "<chat>\n0+1|user: new\n1+1|user: newer\n</chat>"
    assert (await memory.view("kept")).lines == 2


async def test_a_swap_that_was_given_up_leaves_the_live_logs_view_as_it_was(memory, disk):
    """The view in memory was let go inside the change that was undone."""
    before = await memory.view()
    disk.full = True
    with pytest.raises(RemoteError, match="STORE_FULL"):
        await memory.swap()
    disk.full = False

    assert await memory.view() == before
    await memory.append("more")
    assert (await memory.view()).lines == before.lines + 1


async def test_a_rebuild_that_finds_no_room_frees_nothing(memory, disk):
    assert await refused_then_done(memory, disk, lambda: memory.rebuild(demo=True, request_id="r")) == 1

    assert (await memory.stats()).ready_nodes == 1


async def test_a_deletion_that_finds_no_room_is_refused(memory, disk):
    await memory.swap()

    await refused_then_done(memory, disk, lambda: memory.delete(request_id="d"))

    assert set(await memory.logs()) == {LOG}


async def test_a_removal_that_finds_no_room_goes_on_a_minute_later(memory, disk, clock):
    for _ in range(10):
        await memory.append(*["word"] * 200)
    await memory.swap()
    await memory.delete()
    disk.full = True
    await clock.until_sleeping()
    disk.full = False

    clock.advance(REST_S)

    count = "SELECT count(*) FROM logs WHERE deleted = 1"
    async with asyncio.timeout(20):
        while await memory.store.write(lambda db: db.execute(count).get):
            pass
    assert (await memory.messages())[0].text == "new"
