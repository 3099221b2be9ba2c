"""GetView: the text, the sawtooth, the wait, and that a view is the same view after a restart."""

import asyncio
import random
from contextlib import AsyncExitStack

import pytest
from grpc import StatusCode
from onechat.memory.v1.log_pb2 import ViewLimits
from onechat.memory.v1.memory_service_pb2 import GetViewRequest
from onechat_memory.domain.lines import PLACEHOLDER
from onechat_runtime.errors import RemoteError

from tests.fakes.memory_server import LOG, duration, new_message, remembering

LONG = "x" * 600
CHAT, COMPACTION = ViewLimits(high_bytes=4_000, low_bytes=2_000), ViewLimits(high_bytes=1_600, low_bytes=800)


def names(view):
    return [line.split("|", 1)[0] for line in view.text.splitlines()[1:-1]]


def spans(view):
    return [tuple(map(int, name.split("+"))) for name in names(view)]


def tiles(view):
    """Whether its lines stand for every message once, in order."""
    end = 0
    for first, count in spans(view):
        if first != end:
            return False
        end = first + count
    return end == view.length


async def test_a_view_shows_a_line_for_each_node(memory):
    await memory.append("hello\nthere", new_message("a", "hi", kind="MESSAGE_KIND_REPLY"), LONG)

    view = await memory.view()

    assert view.text == f"<chat>\n0+1|user: hello there\n1+1|reply: hi\n2+1|{PLACEHOLDER}\n</chat>"
    assert (view.length, view.lines, view.unbuilt_lines, view.whole, view.generation) == (3, 3, 1, False, 1)
    assert view.bytes == len("user: hello there") + len("reply: hi") + len(PLACEHOLDER)


async def test_the_view_of_an_empty_log_is_empty_and_whole(memory):
    view = await memory.view(wait_s=60)

    assert (view.text, view.whole, view.length) == ("<chat>\n</chat>", True, 0)


@pytest.mark.parametrize(
    ("text", "free"), [("x" * 506, True), ("x" * 507, False), ("é" * 253, True), ("é" * 253 + "x", False)]
)
async def test_a_message_is_its_own_line_up_to_512_bytes(memory, text, free):
    await memory.append(text)

    assert (await memory.view()).whole is free


async def test_a_line_of_more_than_512_bytes_is_shown_as_it_is(memory):
    await memory.append(LONG)
    await memory.complete("0+1", "y" * 900)

    assert (await memory.view()).text == f"<chat>\n0+1|{'y' * 900}\n</chat>"


async def test_between_batches_each_view_starts_with_the_whole_view_before_it(memory):
    """That is what a prompt cache needs."""
    await memory.create("saw", chat_view=CHAT, compaction_view=COMPACTION)
    before, batches, sizes = await memory.view("saw"), 0, []

    for number in range(90):
        await memory.append(f"{number} " + "word " * (number % 60), log="saw")
        await memory.build_all(log="saw")
        view = await memory.view("saw")
        assert tiles(view)
        sizes.append(view.bytes)
        if not view.text.startswith(before.text.removesuffix("</chat>")):
            batches += 1
            assert view.bytes <= CHAT.low_bytes
        before = view

    stats = await memory.stats("saw")
    assert batches == stats.batches >= 3
    assert CHAT.low_bytes < max(sizes) <= CHAT.high_bytes
    assert stats.view_bytes == before.bytes
    assert stats.view_lines == before.lines
    assert not stats.batch_owed
    assert stats.compaction_view_bytes <= COMPACTION.high_bytes


async def run_script(memory, log, restart=None):
    """Appends and (re)builds in a fixed order; `restart` gives a new server over the same files at times."""
    dice = random.Random(7)
    for number in range(100):
        words = dice.randrange(1, 200)
        await memory.append(new_message(f"m{number}", f"{number}: " + "word " * words), log=log)
        if number % 30 > 12:  # some stretches are built late, so that batches are owed
            while (leased := await memory.lease("builder")).pieces:
                for piece in leased.pieces:
                    line = f"line of {piece.first_id} and {piece.count} " * dice.randrange(1, 20)
                    builder = dice.choice(("demo", "test"))
                    name = f"{piece.first_id}+{piece.count}"
                    await memory.complete(name, line[:500], log=leased.log_id, builder=builder)
        if number % 20 == 9:
            await memory.rebuild(log=log, demo=True)
        if number % 7 == 3:
            await memory.view(log)
        if restart and number % 15 == 14:
            memory = await restart()
    return memory


async def test_a_view_that_was_saved_goes_on_like_one_that_was_never_closed(open_memory, tmp_path, clock):
    """A view is never rebuilt from the log: a rebuilt one would cost every cached prefix."""
    async with open_memory() as memory:
        await memory.create(chat_view=CHAT, compaction_view=COMPACTION)
        await run_script(memory, LOG)
        live, live_stats = await memory.view(), await memory.stats()

    async with AsyncExitStack() as stack:

        async def restart():
            await stack.aclose()
            return await stack.enter_async_context(remembering(tmp_path / "twin", clock))

        twin = await restart()
        await twin.create(chat_view=CHAT, compaction_view=COMPACTION)
        twin = await run_script(twin, LOG, restart)
        again = await twin.view()
        again_stats = await twin.stats()

    assert again == live
    assert live_stats.batches > 1
    again_stats.log.create_time.CopyFrom(live_stats.log.create_time)
    assert again_stats == live_stats
    assert tiles(again)


async def test_an_owed_batch_goes_on_after_a_restart(open_memory):
    """Also where it has come below the high limit, so that no new batch would begin."""
    async with open_memory() as memory:
        await memory.create(chat_view=CHAT, compaction_view=COMPACTION)
        await memory.append(*["w" * 300] * 14)
        for name in ("0+2", "2+2", "4+2"):
            await memory.complete(name, "z" * 300)
        half_way = await memory.view()

    async with open_memory() as memory:
        owed = (await memory.stats()).batch_owed
        await memory.build_all(line="z" * 300)
        view = await memory.view()
        stats = await memory.stats()

    assert CHAT.low_bytes < half_way.bytes <= CHAT.high_bytes
    assert owed
    assert view.bytes <= CHAT.low_bytes
    assert tiles(view)
    assert (stats.batches, stats.batch_owed) == (1, False)


async def test_a_view_is_not_fitted_when_a_line_is_built_but_when_it_is_read(memory):
    """Fitting at a built line would move the view under a turn that has begun to read it."""
    await memory.create("small", chat_view=CHAT, compaction_view=COMPACTION)
    await memory.append(*[LONG] * 16, log="small")

    await memory.build_all(log="small", line="z" * 400)

    stats = await memory.stats("small")
    assert (stats.view_lines, stats.view_bytes, stats.batch_owed) == (16, 16 * 400, False)
    view = await memory.view("small")
    assert view.bytes <= CHAT.low_bytes
    assert (await memory.stats("small")).batches == 1


async def test_a_view_waits_until_every_line_is_built(memory, clock):
    await memory.append(LONG, "short", LONG)
    waiting = asyncio.create_task(memory.view(wait_s=300))
    await clock.until_sleeping()

    await memory.complete("0+1", "first")
    assert not waiting.done()
    await memory.complete("2+1", "second")

    view = await waiting
    assert view.whole
    assert view.text == "<chat>\n0+1|first\n1+1|user: short\n2+1|second\n</chat>"


async def test_a_view_that_waited_is_fitted_once_more(memory, clock):
    """An import can build thousands of lines during the wait."""
    await memory.create("small", chat_view=CHAT, compaction_view=COMPACTION)
    await memory.append(*[LONG] * 32, log="small")
    waiting = asyncio.create_task(memory.view("small", wait_s=300))
    await clock.until_sleeping()

    await memory.build_all(log="small", line="z" * 400)

    view = await waiting
    assert view.bytes <= CHAT.high_bytes
    assert view.whole


async def test_a_view_that_is_not_built_in_time_is_given_as_it_is(memory, clock):
    await memory.append(LONG)
    waiting = asyncio.create_task(memory.view(wait_s=300))
    await clock.until_sleeping()

    clock.advance(299)
    assert not waiting.done()
    clock.advance(1)

    view = await waiting
    assert (view.whole, view.unbuilt_lines) == (False, 1)


async def test_a_message_that_comes_during_the_wait_is_waited_for_too(memory, clock):
    await memory.append(LONG)
    waiting = asyncio.create_task(memory.view(wait_s=300))
    await clock.until_sleeping()

    await memory.append(LONG)
    await memory.complete("0+1", "first")
    assert not waiting.done()
    await memory.complete("1+1", "second")

    assert (await waiting).length == 2


async def test_a_log_with_work_outstanding_holds_up_no_other(memory, clock):
    await memory.create("other")
    await memory.append(LONG)
    await memory.append("short", log="other")
    waiting = asyncio.create_task(memory.view(wait_s=300))
    await clock.until_sleeping()

    assert (await memory.view("other", wait_s=300)).whole

    await memory.complete("0+1", "first")
    assert (await waiting).whole


@pytest.mark.parametrize("wait_s", [-1, 601])
async def test_a_wait_that_cannot_be_is_refused(memory, wait_s):
    with pytest.raises(RemoteError) as refused:
        await memory.call("GetView", GetViewRequest(log_id=LOG, wait=duration(wait_s)))

    assert (refused.value.code, refused.value.reason) == (StatusCode.INVALID_ARGUMENT, "BAD_WAIT")


async def test_a_flat_log_has_no_view_and_builds_nothing(memory):
    await memory.create("flat", shape="LOG_SHAPE_FLAT")
    await memory.append(LONG, "short", log="flat")

    with pytest.raises(RemoteError) as refused:
        await memory.view("flat")

    assert (refused.value.code, refused.value.reason) == (StatusCode.FAILED_PRECONDITION, "LOG_IS_FLAT")
    assert (await memory.lease()).pieces == []
    assert (await memory.stats("flat")).built_nodes == 0
