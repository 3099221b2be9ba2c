"""Rows that are missing or changed: found after an unclean end, and where a call meets them."""

import asyncio
from pathlib import Path

import apsw
import pytest
from onechat_memory.soundness import Soundness
from onechat_runtime.clock import SystemClock
from onechat_runtime.health import HealthBoard

from tests.fakes.damaged_memory import HOLE, REFUSED, Hasty, edit, outcome
from tests.fakes.memory_at_hand import at_hand
from tests.fakes.memory_server import LOG, new_message, remembering


def nothing(store: Path) -> None:
    pass


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM messages WHERE log = 1 AND id = (SELECT length - 1 FROM logs WHERE number = 1)",
        "DELETE FROM messages WHERE log = 2 AND id >= 30",
        "UPDATE logs SET length = length - 1 WHERE number = 1",
        "UPDATE logs SET length = length + 1 WHERE number = 2",
        "DELETE FROM view_lines WHERE log = 1 AND view = 'chat' AND first = 0",
        "DELETE FROM view_lines WHERE log = 1 AND view = 'compaction'",
        "UPDATE view_lines SET level = level + 1 WHERE log = 1 AND view = 'chat' AND first = 0",
    ],
)
async def test_a_log_that_does_not_end_where_its_row_says_is_refused_at_every_start(bases, damaged, sql):
    """Also after a clean end: an old page of it would give the next message an id that another one has."""
    folder = damaged(bases.clean, edit(sql), killed=False)

    assert await outcome(folder, bases.said) == REFUSED


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        (HOLE, "message 77 is missing"),
        ("UPDATE messages SET text = text || '!' WHERE log = 1 AND id = 5", "message 5 is not what was"),
        ("UPDATE messages SET kind = 'use' WHERE log = 1 AND id = 9", "cannot be read"),
        ("UPDATE messages SET time = 9000000000000000000 WHERE log = 1 AND id = 9", "cannot be read"),
        ("UPDATE messages SET images = '5' WHERE log = 1 AND id = 9", "cannot be read"),
        ("UPDATE messages SET text = 'x' WHERE log = 1 AND key = 'long' AND part = 2", "is not what was"),
        ("UPDATE messages SET key = 'x' WHERE log = 1 AND key = 'long' AND part = 2", "is not what was"),
        ("DELETE FROM nodes WHERE log = 1 AND level = 0 AND place = 2", "message 2 has no line"),
        ("UPDATE messages SET line_time = NULL WHERE log = 1 AND id = 3", "message 3 has no line"),
        ("INSERT INTO unbuilt_leaves VALUES (1, 4)", "message 4 has no line of its own and waits for none"),
        ("UPDATE messages SET line_time = 7 WHERE log = 1 AND id = 2", "message 2 has no line of its own"),
        ("UPDATE messages SET line_time = 7 WHERE log = 1 AND key = 'long'", "no line of its own"),
        ("UPDATE nodes SET text = CAST(x'ff' AS TEXT) WHERE log = 1 AND level = 3", "cannot be read"),
        ("UPDATE logs SET chat_bytes = chat_bytes - 1 WHERE number = 1", "chat view is not of the bytes"),
        ("UPDATE logs SET compaction_bytes = 0 WHERE number = 1", "compaction view is not of the bytes"),
        ("UPDATE nodes SET text = 'short' WHERE log = 1 AND builder = 'test'", "chat view is not of the"),
    ],
)
async def test_a_hole_in_the_middle_is_found_after_an_unclean_end(bases, damaged, sql, says):
    async with at_hand(damaged(bases.clean, edit(sql)), SystemClock()) as memory:
        fault = await Soundness(memory.store, Hasty()).first_fault()

    assert fault is not None
    assert says in fault


@pytest.mark.parametrize("killed", [True, False])
async def test_a_service_that_was_killed_looks_for_holes_by_itself(bases, damaged, killed):
    """After a clean end it would be a long look for nothing at each start."""
    folder, board = damaged(bases.clean, edit(HOLE), killed=killed), HealthBoard()

    async with remembering(folder, SystemClock(), idle_clock=Hasty(), board=board) as memory:
        async with asyncio.timeout(20):
            while killed and "store_damaged" not in board.troubles():
                await asyncio.sleep(0.002)
        assert memory.store.after_unclean_end is killed

    assert ("store_damaged" in board.troubles()) is killed


async def test_a_look_that_cannot_go_on_ends_and_no_chat_with_it(bases, damaged):
    async with at_hand(damaged(bases.clean, nothing), SystemClock()) as memory:
        away = memory.store.path.rename(memory.store.path.with_name("away"))

        await Soundness(memory.store, Hasty()).run()

        away.rename(memory.store.path)
        answer = await memory.append(new_message("after", "after"))
        assert answer.appended[0].first_id == len(bases.said[LOG])


async def test_a_range_over_a_hole_ends_with_an_error_and_the_health_tells(bases, damaged):
    """It must neither close up, nor go on for ever."""
    async with at_hand(damaged(bases.clean, edit(HOLE), killed=False), SystemClock()) as memory:
        before = [one.id for one in await memory.messages(0, 77)]
        with pytest.raises(apsw.CorruptError, match="message 77"):
            await memory.messages()

        assert before == list(range(77))
        assert "store_damaged" in memory.board.troubles()
