"""Hand-overs: nothing is lost, nothing changes order, and what cannot work does not hold up the rest."""

import asyncio
import random

import grpc
import pytest
from onechat_runtime.errors import RemoteError
from onechat_runtime.outbox import Outbox

AWAY = grpc.StatusCode.UNAVAILABLE
REFUSED = grpc.StatusCode.INVALID_ARGUMENT


class Receiver:
    """The other service: keeps what it was handed, in order, and fails as it is told."""

    def __init__(self):
        self.taken = []
        self.asked = []
        self.failures = {}
        self.came = asyncio.Event()
        self.closed = None

    def fail(self, key, error, times=10**9):
        self.failures[key] = [error] * min(times, 1000)

    async def take(self, key, body):
        self.asked.append(key)
        self.came.set()
        if self.closed is not None:
            await self.closed.wait()
        if self.failures.get(key):
            raise self.failures[key].pop()
        self.taken.append((key, body))
        return f"answer to {key}".encode()


@pytest.fixture
def receiver():
    return Receiver()


class Steady(random.Random):
    """No jitter."""

    def uniform(self, a, b):
        return 1.0


@pytest.fixture
def make_outbox(clock, receiver, board):
    def made(store, settled=None, rng=None, senders=None):
        senders = senders or {"cup": receiver.take, "plate": receiver.take}
        return Outbox(store, clock, rng or Steady(), senders, settled, board=board)

    return made


@pytest.fixture
async def outbox(store, make_outbox):
    return make_outbox(store)


@pytest.fixture
async def running(outbox):
    task = asyncio.create_task(outbox.run())
    yield task
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
def put(store, outbox, clock):
    async def put_one(key, *, lane="", kind="cup", body=b"tea", box=outbox):
        await store.write(lambda db: box.put(db, kind=kind, key=key, body=body, lane=lane, now=clock.now()))

    return put_one


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
