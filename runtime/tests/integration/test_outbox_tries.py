"""What cannot be handed over is tried again, after which pauses, and set aside where that is of no use."""

import asyncio
import random

import grpc
import pytest
from onechat_runtime.errors import RemoteError

AWAY = grpc.StatusCode.UNAVAILABLE
REFUSED = grpc.StatusCode.INVALID_ARGUMENT


def _keys(receiver):
    return [key for key, _ in receiver.taken]


async def test_pauses_double_from_one_second_to_sixty_for_ever(running, put, receiver, clock):
    receiver.fail("a", RemoteError(AWAY))
    await put("a")

    pauses = []
    for _ in range(12):
        await clock.until_sleeping()
        pauses.append(clock.sleepers[0])
        clock.advance(pauses[-1])

    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60]


async def test_pauses_are_spread(store, clock, receiver, make_outbox, put):
    box = make_outbox(store, rng=random.Random(7))
    receiver.fail("a", RemoteError(AWAY))
    await put("a")
    task = asyncio.create_task(box.run())

    pauses = []
    for _ in range(6):
        await clock.until_sleeping()
        pauses.append(clock.sleepers[0])
        clock.advance(pauses[-1])
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    assert all(0.8 * 2**n <= pause <= 1.2 * 2**n for n, pause in enumerate(pauses))
    assert all(pause != 2**n for n, pause in enumerate(pauses))


async def test_a_delay_that_the_receiver_names_is_kept(running, put, receiver, clock):
    receiver.fail("a", RemoteError(grpc.StatusCode.RESOURCE_EXHAUSTED, retry_after_s=30.0))
    await put("a")

    await clock.until_sleeping()

    assert clock.sleepers == [30.0]


@pytest.mark.parametrize(
    "code", ["UNAVAILABLE", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED", "UNAUTHENTICATED", "ABORTED"]
)
async def test_what_may_work_later_is_never_set_aside(running, put, receiver, clock, outbox, code):
    receiver.fail("a", RemoteError(grpc.StatusCode[code]))
    await put("a")

    for _ in range(8):
        await clock.until_sleeping()
        clock.advance(60)

    assert outbox.set_aside() == []
    assert outbox.waiting() == 1


async def _let_fail(clock, tries):
    for _ in range(tries):
        await clock.until_sleeping()
        clock.advance(60)


@pytest.mark.parametrize(
    "error", [RemoteError(REFUSED, "no such cup", reason="CUP_UNKNOWN"), ValueError("what the user wrote")]
)
async def test_what_cannot_work_is_tried_five_times_and_set_aside_and_the_next_goes_on(
    running, put, receiver, clock, outbox, board, until, error
):
    receiver.fail("a", error)
    await put("a")
    await put("b")
    await _let_fail(clock, 4)

    await until(lambda: outbox.waiting() == 0)
    (aside,) = outbox.set_aside()
    assert receiver.asked == ["a"] * 5 + ["b"]
    assert (aside.kind, aside.key, aside.time) == ("cup", "a", clock.now())
    assert "CUP_UNKNOWN" in aside.trace or "ValueError" in aside.trace
    assert "what the user wrote" not in aside.trace
    assert board.troubles()["outbox"].sentence == "1 could not be handed over and were set aside."


async def test_tries_are_counted_over_restarts(open_store, make_outbox, receiver, clock, until):
    receiver.fail("a", RemoteError(REFUSED))
    async with open_store() as store:
        box = make_outbox(store)
        await store.write(lambda db: box.put(db, kind="cup", key="a", body=b"", now=clock.now()))

    for _ in range(5):
        async with open_store() as store:
            box = make_outbox(store)
            receiver.came.clear()
            task = asyncio.create_task(box.run())
            await receiver.came.wait()
            await until(lambda box=box: bool(clock.sleepers) or bool(box.set_aside()))
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async with open_store() as store:
        assert [one.key for one in make_outbox(store).set_aside()] == ["a"]
    assert receiver.asked == ["a"] * 5


async def test_a_kind_that_nobody_hands_over_is_set_aside(running, put, outbox, receiver, until):
    await put("a", kind="spoon")
    await put("b")

    await until(lambda: outbox.waiting() == 0)
    assert [one.key for one in outbox.set_aside()] == ["a"]
    assert _keys(receiver) == ["b"]


async def test_what_was_set_aside_can_be_tried_again_in_its_old_place(
    running, put, receiver, clock, outbox, board, until
):
    receiver.fail("a", ValueError(), times=5)
    await put("a")
    await _let_fail(clock, 4)
    await until(lambda: len(outbox.set_aside()) == 1)
    receiver.closed = asyncio.Event()
    await put("b")

    count = await outbox.retry_set_aside()
    receiver.closed.set()

    await until(lambda: outbox.waiting() == 0)
    assert count == 1
    assert sorted(_keys(receiver)) == ["a", "b"]
    assert outbox.set_aside() == []
    assert board.troubles() == {}


async def test_waking_ends_a_pause(running, put, receiver, clock, outbox, until):
    """A neighbour that is back need not wait up to a minute for what is owed to it."""
    receiver.fail("a", RemoteError(AWAY), times=1)
    await put("a")
    await clock.until_sleeping()

    outbox.wake()

    await until(lambda: outbox.waiting() == 0)
    assert _keys(receiver) == ["a"]
