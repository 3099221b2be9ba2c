"""What a start and a look at messages cost does not grow with the log."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
from onechat.memory.v1.log_pb2 import ViewLimits
from onechat_memory.adapters.soundness_rows import fault_at_an_end
from onechat_memory.bells import Bells
from onechat_memory.chat_logs import ChatLogs
from onechat_memory.soundness import MESSAGES_A_LOOK, look
from onechat_runtime.clock import SystemClock

from tests.fakes.memory_at_hand import MemoryAtHand, at_hand

SMALL = ViewLimits(high_bytes=400, low_bytes=200)
STEP = 20  # of SQLite's machine, between two counts


async def fill(memory: MemoryAtHand, messages: int) -> None:
    await memory.create(chat_view=SMALL, compaction_view=SMALL)
    for start in range(0, messages, 250):
        await memory.append(*(f"{number}" for number in range(start, start + 250)))
        await memory.build_all(line="l" * 40)
    await memory.view()


def steps_of(memory: MemoryAtHand, job: Callable[[apsw.Connection], Any]) -> int:
    """How much SQLite's machine does for a job, in counts of STEP."""
    counted = [0]

    def count() -> bool:
        counted[0] += 1
        return False

    def run(db: apsw.Connection) -> None:
        db.set_progress_handler(count, STEP)
        job(db)
        db.set_progress_handler(None)

    memory.store.read(run)
    return counted[0]


async def test_a_start_looks_at_the_ends_of_logs_alone_and_a_look_costs_the_same_anywhere(tmp_path: Path):
    starts, looks = [], []
    for messages in (500, 3_000):
        async with at_hand(tmp_path / str(messages), SystemClock()) as memory:
            await fill(memory, messages)
            starts.append(steps_of(memory, fault_at_an_end))
            looks.append(steps_of(memory, lambda db, at=messages - MESSAGES_A_LOOK: look(db, 1, at)))

    assert starts[1] < 2 * starts[0]
    assert looks[1] < 2 * looks[0]


async def test_views_are_loaded_without_a_look_at_a_node(tmp_path: Path):
    """In a long log each node of a view lies on a page of its own."""
    read = set[str | None]()

    def note(action: int, table: str | None, *_: str | None) -> int:
        if action == apsw.SQLITE_READ:
            read.add(table)
        return apsw.SQLITE_OK

    async with at_hand(tmp_path, SystemClock()) as memory:
        await fill(memory, 500)
        await memory.store.write(lambda db: db.set_authorizer(note))
        trees = await ChatLogs(memory.store, SystemClock(), Bells(SystemClock())).load()
        await memory.store.write(lambda db: db.set_authorizer(None))

    assert (trees, read) == (1, {"logs", "view_lines"})
