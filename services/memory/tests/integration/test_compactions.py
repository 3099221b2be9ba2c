"""Compaction work: what is handed out, to whom, and with which view."""

import asyncio
from datetime import timedelta
from itertools import pairwise

import pytest
from grpc import StatusCode
from onechat.memory.v1.log_pb2 import ViewLimits
from onechat.memory.v1.memory_service_pb2 import LeaseCompactionsRequest
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
