"""Logs are independent: whatever one of them owes, waits for or goes through, the others go on.

What is shown is the order of events: the other log's calls end while the first one's still wait.
"""

import asyncio

import pytest

from tests.fakes.memory_server import LOG

LONG = "x" * 600
LINE = "l" * 300
OTHER = "other"


def names(leased):
    return [f"{piece.first_id}+{piece.count}" for piece in leased.pieces]


async def other_goes_on(memory):
    """Append to the other log, lease its piece, give its line and read the view whole, without a wait."""
    length = (await memory.append(LONG, log=OTHER)).length
    leased = await memory.lease()
    while leased.log_id == LOG:  # logs in turn: the first one's may come before
        leased = await memory.lease()
    assert leased.log_id == OTHER
    assert f"{length - 1}+1" in names(leased)
    for name in names(leased):
        await memory.complete(name, LINE, log=OTHER, generation=leased.generation)
    view = await memory.view(OTHER)
    assert (view.whole, view.length) == (True, length)


async def backlog(memory):
    await memory.append(*[LONG] * 200)


async def eight_out(memory):
    await memory.append(*[LONG] * 20)
    assert len((await memory.lease()).pieces) == 8


async def all_resting(memory):
    await memory.append(*[LONG] * 8)
    for piece in (await memory.lease()).pieces:
        await memory.fail(piece, "CAUSE_CONTENT")


async def in_an_outage(memory):
    await memory.append(*[LONG] * 8)
    for _ in range(3):
        for piece in (await memory.lease()).pieces:
            await memory.fail(piece, "CAUSE_UNAVAILABLE")


async def rebuilding(memory):
    await memory.append(*[LONG] * 8)
    while (leased := await memory.lease()).pieces:
        for name in names(leased):
            await memory.complete(name, LINE, builder="demo")
    assert await memory.rebuild(demo=True) == 15


async def rebuilding_with_all_out(memory):
    await rebuilding(memory)
    while (await memory.lease()).pieces:
        pass


async def swapped(memory):
    await backlog(memory)
    await memory.create("staged", state="LOG_STATE_STAGED")
    await memory.append(*[LONG] * 20, log="staged")
    await memory.swap()


async def deleted(memory):
    await backlog(memory)
    await memory.create("staged", state="LOG_STATE_STAGED")
    await memory.swap()
    await memory.delete()


@pytest.mark.parametrize(
    "trouble",
    [
        backlog,
        eight_out,
        all_resting,
        in_an_outage,
        rebuilding,
        rebuilding_with_all_out,
        swapped,
        deleted,
    ],
)
async def test_another_log_goes_on_whatever_one_is_in(memory, trouble):
    await memory.create(OTHER)
    await trouble(memory)

    for _ in range(3):
        await other_goes_on(memory)


async def test_a_view_that_waits_holds_up_no_other(memory, clock):
    await memory.create(OTHER)
    await memory.append(LONG)
    waiting = asyncio.create_task(memory.view(wait_s=300))
    await clock.until_sleeping()

    await memory.append("hello", log=OTHER)
    view = await memory.view(OTHER, wait_s=300)

    assert view.whole
    assert not waiting.done()
    await memory.complete("0+1", LINE)
    assert (await waiting).whole


async def test_what_gets_ready_in_another_log_ends_a_wait_that_one_log_cannot(memory, clock):
    """All of the first log's is out: the call waits, and takes the other's piece when it comes."""
    await memory.create(OTHER)
    await eight_out(memory)
    waiting = asyncio.create_task(memory.lease(wait_s=300))
    await clock.until_sleeping()

    await memory.append(LONG, log=OTHER)

    assert ((await waiting).log_id) == OTHER


async def test_eight_of_each_log_are_out_side_by_side(memory):
    await memory.create(OTHER)
    for log in (LOG, OTHER):
        await memory.append(*[LONG] * 10, log=log)

    leased = [await memory.lease() for _ in range(3)]

    assert [(one.log_id, len(one.pieces)) for one in leased] == [(LOG, 8), (OTHER, 8), ("", 0)]


async def test_a_failure_in_one_log_is_none_of_the_other(memory, clock):
    """The same node of two logs rests and counts in its own log alone."""
    await memory.create(OTHER)
    for log in (LOG, OTHER):
        await memory.append(LONG, log=log)
    (piece,) = (await memory.lease()).pieces
    await memory.fail(piece, "CAUSE_CONTENT")

    leased = await memory.lease()

    assert (leased.log_id, leased.pieces[0].failures) == (OTHER, 0)
    assert (await memory.stats(OTHER)).failing_nodes == 0


async def test_while_one_logs_rows_go_bit_by_bit_the_other_ones_writes_come_in_between(memory):
    """Four callers write while a log of 2,000 messages goes; none waits for the end of it."""
    await memory.create(OTHER)
    for _ in range(10):
        await memory.append(*["word"] * 200)
    await memory.create("staged", state="LOG_STATE_STAGED")
    await memory.swap()
    left = "SELECT count(*) FROM messages JOIN logs ON number = log AND deleted = 1"
    seen = []

    async def write():
        for _ in range(5):
            await memory.append("meanwhile", log=OTHER)
            seen.append(memory.store.read(lambda db: db.execute(left).get))

    await memory.delete()
    await asyncio.gather(*[write() for _ in range(4)])

    assert sum(count > 0 for count in seen) > 5
    assert (await memory.stats(OTHER)).log.length == 20
