"""What a log's lines have cost in model calls, as its stats say."""

import pytest
from onechat_runtime.errors import RemoteError

from tests.fakes.memory_server import LOG

LONG = "x" * 600
LINE = "l" * 300
MANY = 2**31 - 1


async def costs(memory, log=LOG):
    """(lines, calls, over-length answers, retries)."""
    stats = await memory.stats(log)
    return stats.model_lines, stats.model_calls, stats.over_length_answers, stats.retries


async def test_a_new_log_has_cost_nothing(memory):
    await memory.append("short", LONG)

    assert await costs(memory) == (0, 0, 0, 0)


async def test_each_line_counts_its_calls(memory):
    await memory.append(LONG, LONG, LONG)

    await memory.complete("0+1", LINE, calls=1)
    await memory.complete("1+1", LINE, calls=3, over_length_answers=2)
    await memory.complete("2+1", LINE, calls=5, over_length_answers=5)
    await memory.complete("0+2", LINE, calls=1)

    assert await costs(memory) == (4, 10, 7, 6)


async def test_a_line_that_no_model_was_asked_for_is_none_that_a_model_wrote(memory):
    await memory.append(LONG, "short")

    await memory.complete("0+1", LINE)

    assert await costs(memory) == (0, 0, 0, 0)


async def refused(reason, call):
    """Returns once `call` was refused for `reason`."""
    with pytest.raises(RemoteError, match=reason):
        await call


async def test_a_line_that_is_sent_twice_counts_once(memory):
    """The agent sends it again when the answer to the first was lost."""
    await memory.append(LONG)
    await memory.complete("0+1", LINE, calls=2, over_length_answers=1)

    await refused("NODE_BUILT", memory.complete("0+1", LINE, calls=2, over_length_answers=1))

    assert await costs(memory) == (1, 2, 1, 1)


async def test_a_line_that_is_refused_counts_nothing(memory):
    await memory.append(LONG)

    await refused("LINE_EMPTY", memory.complete("0+1", " ", calls=1))
    await refused("NODE_UNKNOWN", memory.complete("4+1", LINE, calls=1))

    assert await costs(memory) == (0, 0, 0, 0)


async def test_the_call_after_a_failure_asks_again(memory, clock):
    await memory.append(LONG)
    (piece,) = (await memory.lease()).pieces
    await memory.fail(piece, "CAUSE_CONTENT", calls=2, over_length_answers=1)
    assert await costs(memory) == (0, 2, 1, 1)

    clock.advance(10)
    await memory.lease()
    await memory.complete("0+1", LINE, calls=1)

    assert await costs(memory) == (1, 3, 1, 2)


async def test_a_head_for_a_line_was_written_by_no_model(memory, clock):
    await memory.append(LONG)
    for _ in range(3):
        (piece,) = (await memory.lease()).pieces
        await memory.fail(piece, "CAUSE_CONTENT", calls=1)
        clock.advance(10)

    assert (await memory.stats()).degraded_nodes == 1
    assert await costs(memory) == (0, 3, 0, 2)


async def test_calls_that_an_outage_broke_off_are_counted_and_are_no_failure(memory):
    """Two answers were too long, then the server was away: both were paid."""
    await memory.append(LONG)
    (piece,) = (await memory.lease()).pieces
    await memory.fail(piece, "CAUSE_UNAVAILABLE", calls=2, over_length_answers=2)
    stats = await memory.stats()
    assert (stats.failing_nodes, await costs(memory)) == (0, (0, 2, 2, 1))

    (piece,) = (await memory.lease()).pieces
    assert piece.failures == 0
    await memory.complete("0+1", LINE, calls=1)

    assert await costs(memory) == (1, 3, 2, 2)


async def test_an_outage_that_nothing_was_paid_in_counts_nothing(memory):
    await memory.append(LONG)
    for _ in range(3):
        (piece,) = (await memory.lease()).pieces
        await memory.fail(piece, "CAUSE_UNAVAILABLE")

    await memory.complete("0+1", LINE, calls=1)

    assert await costs(memory) == (1, 1, 0, 0)


async def test_a_piece_that_comes_back_twice_counts_once(memory):
    await memory.append(LONG)
    (piece,) = (await memory.lease()).pieces

    for _ in range(3):
        await memory.fail(piece, "CAUSE_UNAVAILABLE", calls=1)

    assert await costs(memory) == (0, 1, 0, 0)


async def test_absurd_counts_are_brought_within_bounds_and_the_line_is_taken(memory):
    await memory.append(LONG, LONG)

    await memory.complete("0+1", LINE, calls=-7, over_length_answers=-7)
    await memory.complete("1+1", LINE, calls=MANY, over_length_answers=MANY)

    assert await costs(memory) == (1, 1000, 1000, 999)
    assert (await memory.view()).whole


async def test_counts_outlive_a_restart(open_memory):
    async with open_memory() as memory:
        await memory.create()
        await memory.append(LONG, LONG)
        await memory.complete("0+1", LINE, calls=2, over_length_answers=1)
        piece = (await memory.lease()).pieces[0]
        await memory.fail(piece, "CAUSE_UNAVAILABLE", calls=1)

    async with open_memory() as memory:
        assert await costs(memory) == (1, 3, 1, 1)
        await memory.complete("1+1", LINE, calls=1)
        assert await costs(memory) == (2, 4, 1, 2)


async def test_logs_have_counts_of_their_own(memory):
    await memory.create("second")
    await memory.append(LONG)
    await memory.append(LONG, log="second")

    await memory.complete("0+1", LINE, calls=4)

    assert await costs(memory) == (1, 4, 0, 3)
    assert await costs(memory, "second") == (0, 0, 0, 0)
