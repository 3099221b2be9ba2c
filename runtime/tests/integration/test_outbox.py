"""Hand-overs: nothing is lost, nothing changes order, and what is stuck does not hold up the rest."""

import asyncio

import grpc
import pytest
from onechat_runtime.errors import RemoteError

AWAY = grpc.StatusCode.UNAVAILABLE


def _keys(receiver):
    return [key for key, _ in receiver.taken]


async def test_what_is_put_is_handed_over_and_forgotten(running, put, receiver, outbox, until):
    await put("a", body=b"green")

    await until(lambda: outbox.waiting() == 0)
    assert receiver.taken == [("a", b"green")]


async def test_what_was_put_before_the_start_is_handed_over(put, outbox, receiver, until):
    await put("a")

    task = asyncio.create_task(outbox.run())
    await until(lambda: outbox.waiting() == 0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    assert _keys(receiver) == ["a"]


async def test_what_was_put_outlives_a_restart(open_store, make_outbox, receiver, clock, until):
    async with open_store() as store:
        box = make_outbox(store)
        await store.write(lambda db: box.put(db, kind="cup", key="a", body=b"tea", now=clock.now()))

    async with open_store() as store:
        box = make_outbox(store)
        task = asyncio.create_task(box.run())
        await until(lambda: box.waiting() == 0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    assert _keys(receiver) == ["a"]


async def test_a_put_is_seen_however_long_its_commit_takes(running, store, outbox, receiver, clock, until):
    """A look before the commit sees nothing, and nobody would look again."""
    loop = asyncio.get_running_loop()

    def slow(db):
        outbox.put(db, kind="cup", key="a", body=b"", now=clock.now())
        for _ in range(5):  # the loop turns before this commits
            asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result(5)

    await store.write(slow)

    await until(lambda: outbox.waiting() == 0)
    assert _keys(receiver) == ["a"]


async def test_a_put_that_is_undone_is_not_handed_over(running, store, outbox, receiver, put, clock, until):
    def spilt(db):
        outbox.put(db, kind="cup", key="spilt", body=b"", now=clock.now())
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011 - it is ours
        await store.write(spilt)
    await put("b")

    await until(lambda: outbox.waiting() == 0)
    assert _keys(receiver) == ["b"]


async def test_what_is_withdrawn_before_it_was_handed_over_never_is(put, store, outbox, receiver, until):
    await put("a")
    await put("b")
    await store.write(lambda db: outbox.withdraw(db, kind="cup", key="a"))

    task = asyncio.create_task(outbox.run())
    await until(lambda: outbox.waiting() == 0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    assert _keys(receiver) == ["b"]


async def test_a_known_key_is_ignored(put, outbox, running, receiver, until):
    receiver.closed = asyncio.Event()
    await put("a", body=b"first")
    await put("a", body=b"second")
    receiver.closed.set()

    await until(lambda: outbox.waiting() == 0)
    assert receiver.taken == [("a", b"first")]


async def test_the_same_key_of_another_kind_is_another_hand_over(put, outbox, running, receiver, until):
    await put("a", kind="cup")
    await put("a", kind="plate")

    await until(lambda: outbox.waiting() == 0)
    assert _keys(receiver) == ["a", "a"]


async def test_a_lane_keeps_its_order_while_the_neighbour_is_away(
    running, put, receiver, clock, outbox, until
):
    receiver.fail("a", RemoteError(AWAY), times=3)
    for key in ("a", "b", "c"):
        await put(key, lane="x")
    for _ in range(3):
        await clock.until_sleeping()
        clock.advance(60)

    await until(lambda: outbox.waiting() == 0)
    assert _keys(receiver) == ["a", "b", "c"]
    assert receiver.asked == ["a"] * 4 + ["b", "c"]


async def test_a_stuck_lane_does_not_hold_up_another(running, put, receiver, outbox, until):
    receiver.fail("a", RemoteError(AWAY))
    await put("a", lane="x")
    await put("b", lane="y")

    await until(lambda: outbox.waiting() == 1)
    assert _keys(receiver) == ["b"]


async def test_an_answer_is_settled_in_the_transaction_that_forgets(store, make_outbox, put, until):
    def settled(db, kind, key, answer):
        db.execute("INSERT INTO cups (tea) VALUES (?)", (f"{kind} {key} {answer.decode()}",))

    box = make_outbox(store, settled)
    await put("a", box=box)
    task = asyncio.create_task(box.run())
    await until(lambda: box.waiting() == 0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    assert store.read(lambda db: db.execute("SELECT tea FROM cups").get) == "cup a answer to a"


async def test_settling_that_fails_keeps_the_hand_over(store, make_outbox, put, clock):
    def settled(db, kind, key, answer):
        db.execute("INSERT INTO cups (tea) VALUES ('half')")
        raise ValueError

    box = make_outbox(store, settled)
    await put("a", box=box)
    task = asyncio.create_task(box.run())
    await clock.until_sleeping()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    assert box.waiting() == 1
    assert store.read(lambda db: db.execute("SELECT count(*) FROM cups").get) == 0


async def test_killed_between_answer_and_forgetting_the_same_key_is_handed_over_again(
    open_store, make_outbox, program, tmp_path, clock
):
    """The receiver knows the key; so nothing is lost and nothing is taken twice."""
    path, sent = tmp_path / "kitchen" / "store.db", tmp_path / "sent"
    async with open_store() as store:
        box = make_outbox(store)
        await store.write(lambda db: box.put(db, kind="cup", key="a", body=b"", now=clock.now()))

    for mode, code in (("die", -9), ("die", -9), ("live", 0)):
        process = await program("hand_over.py", str(path), str(sent), mode)
        await process.communicate()
        assert process.returncode == code

    assert sent.read_text().split() == ["a", "a", "a"]
    async with open_store() as store:
        assert make_outbox(store).waiting() == 0
