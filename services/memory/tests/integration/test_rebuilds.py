"""RebuildNodes: poor lines are written again behind all other work, and keep their text until then."""

import asyncio

import pytest
from grpc import StatusCode
from onechat.memory.v1.log_pb2 import ViewLimits
from onechat_runtime.errors import RemoteError

from tests.fakes.memory_server import LOG

LONG = "x" * 600
LINE = "l" * 300
BETTER = "b" * 200


def names(leased):
    return [f"{piece.first_id}+{piece.count}" for piece in leased.pieces]


async def degrade(memory, clock, log=LOG):
    """Let every piece that is ready fail until its source's head stands."""
    while (leased := await memory.lease("failing")).pieces:
        for piece in leased.pieces:
            await memory.fail(piece, "CAUSE_CONTENT", log=leased.log_id)
        clock.advance(10)


async def build(memory, builder, log=LOG):
    """Give each ready piece a line of `builder`."""
    while (leased := await memory.lease("builder")).pieces:
        for piece in leased.pieces:
            await memory.complete(f"{piece.first_id}+{piece.count}", LINE, log=leased.log_id, builder=builder)


async def line(memory, name, log=LOG):
    """The text of a node, by a zoom of its parent."""
    first, count = map(int, name.split("+"))
    above = await memory.zoom(f"{first - first % (2 * count)}+{2 * count}", log=log)
    return next(found.text for found in above.lines if found.first_id == first)


@pytest.fixture
async def poor(memory):
    """Four messages whose seven lines are all the demo model's."""
    await memory.append(*[LONG] * 4)
    await build(memory, "demo")
    return memory


async def test_a_degraded_line_stays_until_the_new_one_comes(memory, clock):
    await memory.append(LONG)
    await degrade(memory, clock)
    before = await memory.view()
    assert (await memory.stats()).degraded_nodes == 1

    assert await memory.rebuild(degraded=True) == 1

    waiting = await memory.view(wait_s=300)
    assert (waiting.text, waiting.whole) == (before.text, True)
    (piece,) = (await memory.lease()).pieces
    assert (piece.first_id, piece.count, piece.source, piece.failures) == (0, 1, f"user: {LONG}", 0)
    assert await memory.complete("0+1", BETTER, builder="gpt-5.6") == BETTER
    after, stats = await memory.view(), await memory.stats()
    assert after.text == f"<chat>\n0+1|{BETTER}\n</chat>"
    assert (after.bytes, stats.view_bytes, stats.compaction_view_bytes) == (200, 200, 200)
    assert (stats.degraded_nodes, stats.built_nodes, stats.ready_nodes) == (0, 1, 0)


async def test_a_node_says_who_built_it_again_and_when(poor, clock):
    await poor.rebuild(demo=True)
    clock.advance(60)

    await poor.complete("0+1", BETTER, builder="gpt-5.6")

    node = "SELECT builder, degraded, time FROM nodes WHERE level = 0 AND place = 0"
    row = poor.store.read(lambda db: db.execute(node).fetchone())
    assert row == ("gpt-5.6", 0, int(clock.now().timestamp() * 1_000_000))


async def test_degraded_and_demo_built_nodes_are_chosen_apart(memory, clock):
    await memory.append(LONG, LONG)
    leased = await memory.lease(most=1)
    await memory.complete("0+1", LINE, builder="demo", log=leased.log_id)
    for _ in range(3):
        (piece,) = (await memory.lease(most=1)).pieces
        await memory.fail(piece, "CAUSE_CONTENT")
        clock.advance(10)
    await memory.complete("0+2", LINE, builder="gpt-5.6")

    assert await memory.rebuild() == 0
    assert names(await memory.lease()) == []
    assert await memory.rebuild(degraded=True) == 1
    assert names(await memory.lease()) == ["1+1"]
    assert await memory.rebuild(demo=True) == 1
    assert names(await memory.lease()) == ["0+1"]
    assert await memory.rebuild(degraded=True, demo=True) == 2


async def test_halves_come_before_their_parent_which_is_made_from_their_new_lines(poor):
    assert await poor.rebuild(demo=True) == 7

    assert names(await poor.lease()) == ["0+1", "1+1", "2+1", "3+1"]
    await poor.complete("0+1", "first " + BETTER)
    assert names(await poor.lease()) == []
    await poor.complete("1+1", "second " + BETTER)
    leased = await poor.lease()

    (piece,) = leased.pieces
    assert names(leased) == ["0+2"]
    assert piece.source == f"0+1|first {BETTER}\n1+1|second {BETTER}"
    for name in ("2+1", "3+1", "0+2", "2+2"):
        await poor.complete(name, BETTER)
    assert names(await poor.lease()) == ["0+4"]
    await poor.complete("0+4", BETTER)
    assert (await poor.stats()).ready_nodes == 0


async def test_a_parent_waits_only_for_its_own_halves(poor):
    """What stands further below was made into their lines already."""
    await poor.rebuild(demo=True)
    for name in ("0+2", "2+2", "0+1", "1+1"):
        await poor.complete(name, BETTER)

    assert names(await poor.lease()) == ["2+1", "3+1", "0+4"]


async def test_parents_and_free_lines_above_stay_as_they_are(memory):
    await memory.append(LONG, "b", "c", "d")
    await memory.complete("0+1", "short", builder="demo")
    parents = {name: await line(memory, name) for name in ("0+2", "2+2")}
    stats = await memory.stats()

    assert await memory.rebuild(demo=True) == 1
    await memory.complete("0+1", "another", builder="gpt-5.6")

    assert await line(memory, "0+1") == "another"
    assert {name: await line(memory, name) for name in parents} == parents
    assert (await memory.stats()).built_nodes == stats.built_nodes
    assert names(await memory.lease()) == []


async def test_a_longer_line_merges_the_view_at_the_next_fit_and_never_at_once(memory):
    """A pair whose merged line is written again stands in its view once, and merges once."""
    limits = ViewLimits(high_bytes=1_300, low_bytes=1_000)
    await memory.create("small", chat_view=limits, compaction_view=limits)
    await memory.append(*[LONG] * 4, log="small")
    await build(memory, "demo", log="small")
    before = await memory.stats("small")
    assert (before.view_lines, before.view_bytes) == (4, 1_200)
    assert await memory.rebuild(log="small", demo=True) == 7
    for name in ("0+2", "2+2", "0+1"):
        await memory.complete(name, "m" * 500, log="small")
    assert (await memory.stats("small")).view_lines == 4

    view = await memory.view("small")

    assert view.text == f"<chat>\n0+2|{'m' * 500}\n2+2|{'m' * 500}\n</chat>"
    assert view.bytes == 1_000
    stats = await memory.stats("small")
    assert (stats.view_bytes, stats.view_lines) == (view.bytes, view.lines)


async def test_a_line_in_the_view_is_the_new_one_after_a_restart_too(open_memory):
    async with open_memory() as memory:
        await memory.create()
        await memory.append(LONG)
        await memory.complete("0+1", LINE, builder="demo")
        await memory.rebuild(demo=True)
        await memory.complete("0+1", BETTER)
        view = await memory.view()

    async with open_memory() as memory:
        assert await memory.view() == view
        assert (await memory.stats()).view_bytes == 200


async def test_what_waits_is_there_after_a_restart(open_memory):
    async with open_memory() as memory:
        await memory.create()
        await memory.append(LONG)
        await memory.complete("0+1", LINE, builder="demo")
        await memory.rebuild(demo=True, request_id="again")

    async with open_memory() as memory:
        assert names(await memory.lease()) == ["0+1"]


async def test_what_waits_wakes_a_lease_call(poor, clock):
    waiting = asyncio.create_task(poor.lease(wait_s=300))
    await clock.until_sleeping()

    await poor.rebuild(demo=True)

    assert names(await waiting) == ["0+1", "1+1", "2+1", "3+1"]


async def test_all_that_is_not_built_comes_first_whichever_log_it_is_of(poor):
    await poor.create("other")
    await poor.rebuild(demo=True)
    await poor.append(LONG, log="other")
    await poor.append("a", LONG)

    turns = [await poor.lease(most=1) for _ in range(3)]

    assert {(leased.log_id, *names(leased)) for leased in turns[:2]} == {("other", "0+1"), (LOG, "5+1")}
    assert names(turns[2]) == ["0+1"]


async def test_rebuilding_leaves_room_for_what_a_turn_waits_for(memory):
    """Else eight slow calls for old lines would hold up the line of a new message."""
    await memory.append(*[LONG] * 12)
    await build(memory, "demo")
    await memory.rebuild(demo=True)
    assert names(await memory.lease()) == ["0+1", "1+1", "2+1", "3+1"]
    assert names(await memory.lease()) == []

    await memory.append(LONG)

    assert names(await memory.lease()) == ["12+1"]


async def test_a_line_that_nobody_asked_for_again_is_refused(poor):
    await poor.rebuild(demo=True)
    await poor.complete("0+1", BETTER)

    with pytest.raises(RemoteError) as refused:
        await poor.complete("0+1", "once more")

    assert (refused.value.code, refused.value.reason) == (StatusCode.ALREADY_EXISTS, "NODE_BUILT")
    assert await line(poor, "0+1") == BETTER


async def test_a_line_of_the_demo_again_may_be_asked_for_once_more(poor):
    await poor.rebuild(demo=True)

    await build(poor, "demo")

    assert (await poor.stats()).ready_nodes == 0
    assert await poor.rebuild(demo=True) == 7


async def test_after_the_third_failure_the_line_stays_as_it_was(memory, clock):
    await memory.append(LONG)
    await degrade(memory, clock)
    before = await memory.view()
    await memory.rebuild(degraded=True)

    for failures in range(3):
        (piece,) = (await memory.lease()).pieces
        assert piece.failures == failures
        assert not await memory.fail(piece, "CAUSE_CONTENT")
        assert names(await memory.lease()) == []
        clock.advance(10)

    stats = await memory.stats()
    assert (stats.degraded_nodes, stats.failing_nodes, stats.ready_nodes) == (1, 0, 0)
    assert await memory.view() == before
    assert names(await memory.lease()) == []
    assert await memory.rebuild(degraded=True) == 1
    (piece,) = (await memory.lease()).pieces
    assert piece.failures == 0


async def test_an_outage_counts_nothing_against_what_is_built_again(poor):
    await poor.rebuild(demo=True)
    for _ in range(5):
        (piece,) = (await poor.lease(most=1)).pieces
        assert not await poor.fail(piece, "CAUSE_UNAVAILABLE")

    (piece,) = (await poor.lease(most=1)).pieces
    assert piece.failures == 0


async def test_figures_count_what_waits_and_what_failed(poor):
    await poor.rebuild(demo=True)
    (piece,) = (await poor.lease(most=1)).pieces
    await poor.fail(piece, "CAUSE_CONTENT")

    stats = await poor.stats()

    assert (stats.ready_nodes, stats.failing_nodes, stats.unbuilt_leaves, stats.built_nodes) == (7, 1, 0, 7)


async def test_a_call_that_comes_twice_frees_once(poor):
    assert await poor.rebuild(demo=True, request_id="r") == 7
    await build(poor, "demo")

    assert await poor.rebuild(demo=True, request_id="r") == 7

    assert (await poor.stats()).ready_nodes == 0
    with pytest.raises(RemoteError) as refused:
        await poor.rebuild(degraded=True, request_id="r")
    assert (refused.value.code, refused.value.reason) == (StatusCode.ALREADY_EXISTS, "KEY_REUSED")


async def test_what_waits_goes_with_its_log_through_a_swap(poor):
    await poor.rebuild(demo=True)
    await poor.create("staged", state="LOG_STATE_STAGED")
    await poor.swap()
    assert names(await poor.lease()) == []

    await poor.swap("kept", "back")

    leased = await poor.lease()
    assert (leased.log_id, leased.generation, names(leased)) == (LOG, 3, ["0+1", "1+1", "2+1", "3+1"])


async def test_a_flat_log_has_nothing_to_build_again(memory):
    await memory.create("flat", shape="LOG_SHAPE_FLAT")

    with pytest.raises(RemoteError) as refused:
        await memory.rebuild(log="flat", demo=True)

    assert (refused.value.code, refused.value.reason) == (StatusCode.FAILED_PRECONDITION, "LOG_IS_FLAT")
