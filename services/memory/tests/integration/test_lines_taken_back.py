"""What comes back from compaction work: lines that are taken or refused, and failures."""

import asyncio

import pytest
from grpc import StatusCode
from onechat.memory.v1.memory_service_pb2 import CompactionPiece
from onechat_runtime.errors import RemoteError

from tests.fakes.memory_rows import nodes_of
from tests.fakes.memory_server import LOG

LONG = "x" * 600
LINE = "l" * 300


def names(leased):
    return [f"{piece.first_id}+{piece.count}" for piece in leased.pieces]


async def kept(memory, name, log=LOG):
    """The line of a node, by a zoom of its parent."""
    first, count = map(int, name.split("+"))
    above = await memory.zoom(f"{first - first % (2 * count)}+{2 * count}", log=log)
    return next(line for line in above.lines if line.first_id == first)


async def test_the_first_line_stays_and_a_second_one_is_refused(memory):
    await memory.append(LONG, "b")
    await memory.complete("0+1", "first")

    for name in ("0+1", "1+1"):
        with pytest.raises(RemoteError) as refused:
            await memory.complete(name, "second")
        assert (refused.value.code, refused.value.reason) == (StatusCode.ALREADY_EXISTS, "NODE_BUILT")

    assert (await memory.view()).text == "<chat>\n0+1|first\n1+1|user: b\n</chat>"


@pytest.mark.parametrize("line", ["", " \n ", "0+1|", "0+1| \n"])
async def test_an_empty_line_is_refused(memory, line):
    await memory.append(LONG)

    with pytest.raises(RemoteError) as refused:
        await memory.complete("0+1", line)

    assert (refused.value.code, refused.value.reason) == (StatusCode.INVALID_ARGUMENT, "LINE_EMPTY")
    assert not (await memory.view()).whole


async def test_a_line_of_3000_bytes_is_cut(memory):
    await memory.append(LONG)

    assert await memory.complete("0+1", "é" * 1500) == "é" * 512


@pytest.mark.parametrize("name", ["2+1", "0+4", "1+2", "0+3", "0+0", "0+2", "-1+1"])
async def test_a_node_that_is_not_there_yet_is_refused(memory, name):
    """The merge of two leaves of which one is not built is among them."""
    await memory.append(LONG, "b")

    with pytest.raises(RemoteError) as refused:
        await memory.complete(name, "line")

    assert (refused.value.code, refused.value.reason) == (StatusCode.NOT_FOUND, "NODE_UNKNOWN")


@pytest.mark.parametrize("name", ["2+1", "0+4", "1+2", "0+3"])
async def test_a_node_that_no_log_of_this_length_has_cannot_fail(memory, name):
    await memory.append(LONG, "b")
    first, count = map(int, name.split("+"))

    with pytest.raises(RemoteError) as refused:
        await memory.fail(CompactionPiece(first_id=first, count=count), "CAUSE_CONTENT")

    assert (refused.value.code, refused.value.reason) == (StatusCode.NOT_FOUND, "NODE_UNKNOWN")


async def test_a_line_for_another_generation_of_the_log_is_refused(memory):
    await memory.append(LONG)

    with pytest.raises(RemoteError) as refused:
        await memory.complete("0+1", "line", generation=2)

    assert refused.value.reason == "NODE_UNKNOWN"
    await memory.complete("0+1", "line", generation=1)


async def test_a_line_is_taken_whoever_sends_it_also_long_after_its_lease(memory, clock):
    await memory.append(LONG)
    await memory.lease()
    clock.advance(500)

    await memory.complete("0+1", "line")

    assert (await memory.view()).whole


async def test_a_node_says_who_built_it_and_when(memory, clock):
    await memory.append("a" * 300, LONG)
    await memory.complete("1+1", LINE, builder="gpt-5.6")
    await memory.complete("0+2", LINE, builder="demo")

    nodes = memory.store.read(lambda db: nodes_of(db, 1))

    at = int(clock.now().timestamp() * 1_000_000)
    assert [(level, place, *rest) for level, place, _, *rest in nodes] == [
        (0, 0, "free", 0, at),
        (0, 1, "gpt-5.6", 0, at),
        (1, 0, "demo", 0, at),
    ]


async def test_a_piece_that_could_not_be_worked_on_is_ready_again_and_counts_nothing(memory):
    """An outage degrades nothing."""
    await memory.append(LONG)
    for _ in range(5):
        (piece,) = (await memory.lease()).pieces
        assert not await memory.fail(piece, "CAUSE_UNAVAILABLE")

    (piece,) = (await memory.lease()).pieces
    assert piece.failures == 0
    assert (await memory.stats()).failing_nodes == 0


async def test_a_piece_whose_content_failed_rests_ten_seconds(memory, clock):
    await memory.append(LONG)
    (piece,) = (await memory.lease()).pieces

    assert not await memory.fail(piece, "CAUSE_CONTENT")

    assert names(await memory.lease()) == []
    assert (await memory.stats()).failing_nodes == 1
    waiting = asyncio.create_task(memory.lease(wait_s=300))
    await clock.until_sleeping()
    clock.advance(10)
    (piece,) = (await waiting).pieces
    assert piece.failures == 1


async def test_after_the_third_failure_the_head_of_the_source_stands(memory, clock):
    """No placeholder ever reaches a model."""
    await memory.append("a\n" + "é" * 600)
    outcomes = []
    for _ in range(3):
        (piece,) = (await memory.lease()).pieces
        outcomes.append(await memory.fail(piece, "CAUSE_CONTENT"))
        clock.advance(10)

    assert outcomes == [False, False, True]
    stats = await memory.stats()
    assert (stats.degraded_nodes, stats.failing_nodes, stats.unbuilt_leaves) == (1, 0, 0)
    assert (await memory.view()).text == f"<chat>\n0+1|user: a {'é' * 252}\n</chat>"
    with pytest.raises(RemoteError, match="NODE_BUILT"):
        await memory.complete("0+1", "late")


async def test_failures_are_counted_over_a_restart(open_memory, clock):
    async with open_memory() as memory:
        await memory.create()
        await memory.append("a" * 300, "b" * 300)
        for _ in range(2):
            (piece,) = (await memory.lease()).pieces
            await memory.fail(piece, "CAUSE_CONTENT")
            clock.advance(10)

    async with open_memory() as memory:
        (piece,) = (await memory.lease()).pieces
        assert piece.failures == 2
        assert await memory.fail(piece, "CAUSE_CONTENT")
        assert (await memory.stats()).degraded_nodes == 1


async def test_a_lease_that_has_ended_counts_nothing(open_memory, clock):
    async with open_memory(epoch="one") as memory:
        await memory.create()
        await memory.append(LONG)
        (old,) = (await memory.lease()).pieces
        clock.advance(120)
        (new,) = (await memory.lease()).pieces
        for piece in (old, old, old):
            assert not await memory.fail(piece, "CAUSE_CONTENT")
        assert (await memory.stats()).failing_nodes == 0
        assert names(await memory.lease()) == []

    async with open_memory(epoch="two") as memory:
        await memory.lease()
        assert not await memory.fail(new, "CAUSE_CONTENT")
        assert (await memory.stats()).failing_nodes == 0


async def test_a_piece_comes_back_with_a_cause(memory):
    await memory.append(LONG)
    (piece,) = (await memory.lease()).pieces

    with pytest.raises(RemoteError) as refused:
        await memory.fail(piece, "CAUSE_UNSPECIFIED")

    assert (refused.value.code, refused.value.reason) == (StatusCode.INVALID_ARGUMENT, "CAUSE_MISSING")
