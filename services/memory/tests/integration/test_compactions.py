"""Compaction work: what is handed out, to whom, with which view, and what is taken back."""

import asyncio
from datetime import timedelta
from itertools import pairwise

import pytest
from grpc import StatusCode
from onechat.memory.v1.log_pb2 import ViewLimits
from onechat.memory.v1.memory_service_pb2 import CompactionPiece, LeaseCompactionsRequest
from onechat_runtime.errors import RemoteError

from tests.fakes.memory_server import LOG, timestamp

LONG = "x" * 600
LINE = "l" * 300


def names(leased):
    return [f"{piece.first_id}+{piece.count}" for piece in leased.pieces]


async def kept(memory, name, log=LOG):
    """The line of a node, by a zoom of its parent."""
    first, count = map(int, name.split("+"))
    above = await memory.zoom(f"{first - first % (2 * count)}+{2 * count}", log=log)
    return next(line for line in above.lines if line.first_id == first)


async def test_a_leaf_is_handed_out_with_its_source_and_the_lines_before_it(memory):
    await memory.append("hello\nthere", LONG, "behind")

    leased = await memory.lease()

    (piece,) = leased.pieces
    assert (leased.log_id, leased.generation) == (LOG, 1)
    assert list(leased.view_lines) == ["0+1|user: hello there"]
    assert (piece.first_id, piece.count, piece.source) == (1, 1, f"user: {LONG}")
    assert (piece.view_lines_seen, piece.failures) == (1, 0)


async def test_a_leaf_that_was_taken_goes_into_the_view(memory):
    await memory.append(LONG)

    stored = await memory.complete("0+1", "  40+8|user: a long one\n(x) ")

    assert stored == "user: a long one (x)"
    assert (await memory.view()).text == "<chat>\n0+1|user: a long one (x)\n</chat>"


async def test_a_merge_is_handed_out_with_its_two_lines_and_the_view_up_to_its_last_message(memory):
    await memory.append("a\n" + "a" * 300, "b" * 300, "c")

    leased = await memory.lease()

    (piece,) = leased.pieces
    assert (piece.first_id, piece.count) == (0, 2)
    assert piece.source == f"0+1|user: a {'a' * 300}\n1+1|user: {'b' * 300}"
    assert piece.view_lines_seen == 2
    assert list(leased.view_lines) == piece.source.splitlines()


async def test_what_fits_is_built_at_once_and_up_the_tree_without_any_work(memory):
    await memory.append(*"abcdefgh")

    assert names(await memory.lease()) == []
    assert (await memory.stats()).built_nodes == 15
    assert [line.text for line in (await memory.zoom("0+8")).lines] == [
        "user: a user: b user: c user: d",
        "user: e user: f user: g user: h",
    ]


async def test_a_line_that_is_taken_builds_what_then_fits(memory):
    await memory.append("a", LONG, "c", "d")

    await memory.complete("1+1", "user: b")

    assert (await memory.stats()).built_nodes == 7
    assert (await kept(memory, "0+2")).text == "user: a user: b"


async def test_only_eight_leaves_ahead_are_ready(memory):
    """Else far leaves would be built with a view that lacks what is just before them."""
    await memory.append(*[LONG] * 12)

    assert names(await memory.lease()) == [f"{n}+1" for n in range(8)]
    assert (await memory.stats()).ready_nodes == 8

    await memory.complete("3+1", "three")
    assert names(await memory.lease()) == ["8+1"]


async def test_at_most_eight_of_a_log_are_out_at_once(memory):
    await memory.append(*[LONG] * 12)
    assert len((await memory.lease(most=5)).pieces) == 5
    assert names(await memory.lease()) == ["5+1", "6+1", "7+1"]
    await memory.append(*["m" * 300] * 4)

    assert names(await memory.lease()) == []


async def test_a_piece_sees_no_line_behind_one_that_is_not_built(memory):
    await memory.append("a", LONG, "c", LONG)

    leased = await memory.lease()

    assert [(n, piece.view_lines_seen) for n, piece in zip(names(leased), leased.pieces, strict=True)] == [
        ("1+1", 1),
        ("3+1", 1),
    ]
    assert list(leased.view_lines) == ["0+1|user: a"]


async def test_merges_keep_up_with_leaves(memory):
    """The piece whose last message is the oldest goes first, so the views stay short in a long backlog."""
    await memory.append(*[LONG] * 12)
    for number in range(4):
        await memory.complete(f"{number}+1", LINE)

    assert names(await memory.lease(most=4)) == ["0+2", "2+2", "4+1", "5+1"]


async def test_logs_have_their_turns(memory):
    await memory.create("second")
    await memory.create("third")
    for log in (LOG, "second", "third"):
        await memory.append(*[LONG] * 4, log=log)

    turns = [(await memory.lease(most=2)).log_id for _ in range(7)]

    assert turns == [LOG, "second", "third", LOG, "second", "third", ""]


async def test_a_log_with_eight_out_does_not_hold_up_the_others(memory):
    await memory.create("second")
    await memory.append(*[LONG] * 20)
    await memory.lease()
    await memory.append(LONG, log="second")

    assert (await memory.lease()).log_id == "second"


async def test_a_lease_ends_after_two_minutes(memory, clock):
    await memory.append(LONG)
    leased = await memory.lease()
    assert leased.expire_time == timestamp(clock.now() + timedelta(minutes=2))
    clock.advance(119)
    assert names(await memory.lease()) == []

    clock.advance(1)

    assert names(await memory.lease()) == ["0+1"]


async def test_a_new_holder_frees_what_the_old_one_had_at_once(memory):
    """The agent was started again; its work must not lie for two minutes."""
    await memory.append(LONG)
    await memory.lease("agent, first start")

    assert names(await memory.lease("agent, second start")) == ["0+1"]


async def test_an_old_holder_that_still_waits_gets_nothing(memory, clock):
    old = asyncio.create_task(memory.lease("agent, first start", wait_s=300))
    await clock.until_sleeping()
    new = asyncio.create_task(memory.lease("agent, second start", wait_s=300))

    assert names(await old) == []
    await memory.append(LONG)
    assert names(await new) == ["0+1"]


async def test_leases_do_not_outlive_a_restart(open_memory):
    async with open_memory() as memory:
        await memory.create()
        await memory.append(LONG)
        assert names(await memory.lease()) == ["0+1"]

    async with open_memory() as memory:
        assert names(await memory.lease()) == ["0+1"]


async def test_a_call_waits_until_something_is_ready(memory, clock):
    waiting = asyncio.create_task(memory.lease(wait_s=300))
    await clock.until_sleeping()
    await memory.append("short")
    assert not waiting.done()

    await memory.append(LONG)

    assert names(await waiting) == ["1+1"]


async def test_a_call_waits_until_a_merge_is_ready(memory, clock):
    await memory.append("a" * 300)
    waiting = asyncio.create_task(memory.lease(wait_s=300))
    await clock.until_sleeping()

    await memory.append("b" * 300)

    assert names(await waiting) == ["0+2"]


async def test_a_call_waits_until_a_lease_ends(memory, clock):
    await memory.append(LONG)
    await memory.lease()
    waiting = asyncio.create_task(memory.lease(wait_s=300))
    await clock.until_sleeping()

    clock.advance(120)

    assert names(await waiting) == ["0+1"]


async def test_a_call_answers_empty_when_nothing_gets_ready_in_time(memory, clock):
    waiting = asyncio.create_task(memory.lease(wait_s=300))
    await clock.until_sleeping()

    clock.advance(300)

    assert names(await waiting) == []


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

    nodes = "SELECT level, place, builder, degraded, time FROM nodes ORDER BY level, place"
    rows = memory.store.read(lambda db: db.execute(nodes).fetchall())

    at = int(clock.now().timestamp() * 1_000_000)
    assert rows == [(0, 0, "free", 0, at), (0, 1, "gpt-5.6", 0, at), (1, 0, "demo", 0, at)]


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


@pytest.mark.parametrize("holder", ["", "h" * 201, "è"])
async def test_a_holder_has_a_name(memory, holder):
    with pytest.raises(RemoteError) as refused:
        await memory.lease(holder)

    assert (refused.value.code, refused.value.reason) == (StatusCode.INVALID_ARGUMENT, "HOLDER_INVALID")


async def test_a_wait_over_ten_minutes_is_refused(memory):
    request = LeaseCompactionsRequest(holder="agent")
    request.wait.seconds = 601

    with pytest.raises(RemoteError) as refused:
        await memory.call("LeaseCompactions", request)

    assert refused.value.reason == "BAD_WAIT"


async def test_the_compaction_view_merges_whenever_the_chats_does(memory):
    await memory.create(
        "both",
        chat_view=ViewLimits(high_bytes=3_000, low_bytes=1_500),
        compaction_view=ViewLimits(high_bytes=10_000, low_bytes=1_100),
    )
    sizes = []
    for number in range(200):
        await memory.append(f"{number} " + "w" * 90, log="both")
        await memory.build_all(log="both", line="z" * 90)
        stats = await memory.stats("both")
        sizes.append((stats.batches, stats.view_bytes, stats.compaction_view_bytes))

    merged = [after for before, after in pairwise(sizes) if after[0] > before[0]]
    assert len(merged) > 2
    assert all(chat <= 1_500 and compaction <= 1_100 for _, chat, compaction in merged)
    assert max(compaction for _, _, compaction in sizes) <= 3_000


async def test_the_compaction_view_has_limits_of_its_own(memory):
    await memory.create("short", compaction_view=ViewLimits(high_bytes=3_200, low_bytes=1_600))
    sizes = []
    for number in range(100):
        await memory.append(f"{number} " + "w" * 90, log="short")
        await memory.build_all(log="short", line="z" * 90)
        sizes.append((await memory.stats("short")).compaction_view_bytes)

    stats = await memory.stats("short")
    assert (stats.batches, stats.view_lines) == (0, 100)
    assert max(sizes) <= 3_200
    assert sum(after < before for before, after in pairwise(sizes)) > 2
