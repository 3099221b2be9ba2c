"""Flat logs, for subagents: messages alone, given whole each time; what needs a tree is refused or empty."""

import asyncio

import pytest
from grpc import StatusCode
from onechat.memory.v1.log_pb2 import LOG_SHAPE_FLAT, LOG_STATE_KEPT
from onechat.memory.v1.memory_service_pb2 import CompactionPiece, GetMessageTimeRequest
from onechat_runtime.errors import RemoteError

from tests.fakes.memory_server import MORNING, new_message, timestamp

LONG = "x" * 600
TREE_TABLES = ("nodes", "unbuilt_leaves", "ready_merges", "failures", "view_lines", "rebuilds")


@pytest.fixture
async def flat(memory):
    await memory.create("flat", shape="LOG_SHAPE_FLAT")
    return memory


async def whole_chat(memory, log="flat"):
    """All messages by way of zoom's pages, and the characters of each page."""
    texts, sizes, page = [], [], None
    while True:
        answer = await memory.zoom("0+0", log=log, page=page)
        texts += [message.text for message in answer.messages]
        sizes.append(sum(len(message.text) for message in answer.messages))
        if not answer.HasField("next_page_id"):
            return texts, sizes
        page = answer.next_page_id


async def test_a_flat_log_gives_its_whole_chat_page_by_page(flat):
    texts = [f"{number} " + "word " * (number * 97 % 900) for number in range(60)]
    await flat.append(*texts, log="flat")

    found, sizes = await whole_chat(flat)

    assert found == texts
    assert len(sizes) > 3
    assert max(sizes) <= 32_000
    assert [message.text for message in await flat.messages(log="flat")] == texts


async def test_a_page_may_begin_at_any_message(flat):
    await flat.append(*["y" * 20_000] * 3, log="flat")

    answer = await flat.zoom("0+0", log="flat", page=1)

    assert [message.id for message in answer.messages] == [1]
    assert answer.next_page_id == 2
    for page in (3, -1):
        with pytest.raises(RemoteError, match="LINE_UNKNOWN"):
            await flat.zoom("0+0", log="flat", page=page)


async def test_an_empty_flat_log_has_one_empty_page(flat):
    assert await whole_chat(flat) == ([], [0])


async def test_keys_pieces_and_times_are_as_in_any_log(flat):
    long = "line of words\n" * 5_000
    first = await flat.append(new_message("k", long, zone="Europe/Rome"), log="flat")
    again = await flat.append(new_message("k", long), new_message("n", "next"), log="flat")

    assert (first.appended[0].first_id, first.appended[0].count) == (0, 3)
    assert (again.appended[0].known, again.appended[1].first_id, again.length) == (True, 3, 4)
    texts, _ = await whole_chat(flat)
    assert "".join(texts[:3]) == long
    time = await flat.call("GetMessageTime", GetMessageTimeRequest(log_id="flat", id=2))
    assert (time.time, time.zone) == (timestamp(MORNING), "Europe/Rome")
    assert (await flat.zoom("2+1", log="flat")).messages[0].parts == 3


async def test_a_flat_log_is_searched_like_any_other(flat):
    await flat.append("the kettle is on", "nothing", log="flat")

    assert await flat.found("kettle", log="flat") == [0]


async def test_nothing_of_a_tree_is_written_for_a_flat_log(flat):
    await flat.append("a", LONG, "b", LONG, log="flat")

    counts = [
        flat.store.read(lambda db, table=table: db.execute(f"SELECT count(*) FROM {table}").get)
        for table in TREE_TABLES
    ]
    stats = await flat.stats("flat")
    assert counts == [0] * len(TREE_TABLES)
    assert (stats.built_nodes, stats.ready_nodes, stats.unbuilt_leaves, stats.view_lines) == (0, 0, 0, 0)
    assert (stats.log.shape, stats.log.length) == (LOG_SHAPE_FLAT, 4)


async def test_a_flat_log_has_no_view_however_long_one_waits(flat):
    await flat.append(LONG, log="flat")

    with pytest.raises(RemoteError) as refused:
        await flat.view("flat", wait_s=300)

    assert (refused.value.code, refused.value.reason) == (StatusCode.FAILED_PRECONDITION, "LOG_IS_FLAT")


async def test_no_work_comes_of_a_flat_log(flat, clock):
    waiting = asyncio.create_task(flat.lease(wait_s=300))
    await clock.until_sleeping()

    await flat.append(LONG, LONG, log="flat")
    await flat.append(LONG)

    leased = await waiting
    assert (leased.log_id, len(leased.pieces)) == ("log", 1)


@pytest.mark.parametrize("name", ["0+1", "0+2"])
async def test_a_line_for_a_flat_log_is_refused(flat, name):
    await flat.append(LONG, LONG, log="flat")

    with pytest.raises(RemoteError) as refused:
        await flat.complete(name, "line", log="flat")

    assert (refused.value.code, refused.value.reason) == (StatusCode.NOT_FOUND, "NODE_UNKNOWN")


@pytest.mark.parametrize("cause", ["CAUSE_CONTENT", "CAUSE_UNAVAILABLE"])
async def test_a_failure_in_a_flat_log_counts_nothing(flat, cause):
    await flat.append(LONG, log="flat")

    assert not await flat.fail(CompactionPiece(first_id=0, count=1, lease_id="x"), cause, log="flat")

    assert (await flat.stats("flat")).failing_nodes == 0


async def test_flat_logs_are_swapped_kept_and_deleted_like_others(flat):
    await flat.append("old", log="flat")
    await flat.create("staged", shape="LOG_SHAPE_FLAT", state="LOG_STATE_STAGED")
    await flat.append("new", log="staged")

    swapped = await flat.swap(log="flat")

    assert (swapped.shape, swapped.generation, swapped.length) == (LOG_SHAPE_FLAT, 2, 1)
    assert await whole_chat(flat) == (["new"], [3])
    assert await whole_chat(flat, "kept") == (["old"], [3])
    assert (await flat.logs())["kept"].state == LOG_STATE_KEPT
    with pytest.raises(RemoteError, match="LOG_IS_FLAT"):
        await flat.view("kept")
    with pytest.raises(RemoteError, match="LOG_NOT_LIVE"):
        await flat.append("more", log="kept")
    await flat.delete()
    assert set(await flat.logs()) == {"log", "flat"}


async def test_a_flat_log_does_not_take_a_trees_place(flat):
    await flat.create("staged", state="LOG_STATE_STAGED")

    with pytest.raises(RemoteError) as refused:
        await flat.swap(log="flat")

    assert (refused.value.code, refused.value.reason) == (StatusCode.FAILED_PRECONDITION, "LOG_NOT_STAGED")
    assert "flat" in refused.value.message
    assert "tree" in refused.value.message


async def test_a_flat_log_goes_on_after_a_restart(open_memory):
    async with open_memory() as memory:
        await memory.create("flat", shape="LOG_SHAPE_FLAT")
        await memory.append("before", log="flat")

    async with open_memory() as memory:
        (appended,) = (await memory.append("after", log="flat")).appended
        assert appended.first_id == 1
        assert (await whole_chat(memory))[0] == ["before", "after"]
