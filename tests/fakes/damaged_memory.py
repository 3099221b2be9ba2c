"""Stores of the memory service that are to be hurt, what was said to each, and how it takes the damage."""

import asyncio
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
from onechat.memory.v1.log_pb2 import ViewLimits
from onechat_memory.soundness import Soundness
from onechat_runtime.clock import SystemClock
from onechat_runtime.errors import StartRefused
from onechat_runtime.store import INTEGRITY_CHECK

from tests.fakes.memory_at_hand import MemoryAtHand, at_hand
from tests.fakes.memory_server import LOG, new_message

LIMITS = {
    "chat_view": ViewLimits(high_bytes=4_000, low_bytes=2_000),
    "compaction_view": ViewLimits(high_bytes=1_600, low_bytes=800),
}
LOGS = (LOG, "flat")
HOLE = "DELETE FROM messages WHERE log = 1 AND id = 77"
REFUSED, TOLD, SOUND = "refused", "told", "sound"

Kept = list[tuple[Any, ...]]  #: of each message, oldest first, what its caller said


class Hasty(SystemClock):
    """Pauses are over at once."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)


async def write_a_log(memory: MemoryAtHand) -> None:
    """Some thousand rows, in some hundred commits."""
    await memory.create(LOG, **LIMITS)
    await memory.create("flat", shape="LOG_SHAPE_FLAT")
    dice = random.Random(5)
    for block in range(40):
        texts = [f"{block}.{number} " + "word " * dice.randrange(1, 140) for number in range(8)]
        await memory.append(*(new_message(f"m{block}.{n}", text) for n, text in enumerate(texts)))
        await memory.append(new_message(f"f{block}", f"flat {block} " * 9), log="flat")
        if block == 20:
            await memory.append(new_message("long", "a line of a long text\n" * 3_000))
        if block % 3 == 2:
            await memory.build_all(line="z" * 200)
    await memory.build_all(line="z" * 200)


async def messages_of(memory: MemoryAtHand) -> dict[str, Kept]:
    """What each log holds."""
    known = {row[0] for row in memory.store.read(lambda db: db.execute("SELECT id FROM logs").fetchall())}
    return {
        log: [
            (one.id, one.key, one.kind, one.text, one.source, one.part, one.parts)
            for one in await memory.messages(log=log)
        ]
        for log in LOGS
        if log in known
    }


class Bases:
    """The same store as three ends left it, and what was said to it."""

    def __init__(self, home: Path) -> None:
        self.clean, self.killed, self.checkpointed = (home / name for name in ("clean", "killed", "moved"))
        self.said: dict[str, Kept] = {}

    async def make(self) -> None:
        home = self.clean
        async with at_hand(home, SystemClock()) as memory:
            await write_a_log(memory)
            self.said = await messages_of(memory)
            shutil.copytree(home, self.killed)  # as after a SIGKILL: much of it is in SQLite's log alone
            with apsw.Connection(str(memory.store.path)) as other:
                other.wal_checkpoint()
            shutil.copytree(home, self.checkpointed)  # the log is in the store too, and has not begun anew


async def outcome(folder: Path, said: dict[str, Kept]) -> str:
    """How the service takes these files; raises where it shows what nobody said."""
    try:
        async with at_hand(folder, SystemClock()) as memory:
            return TOLD if await is_told(memory) else await must_be_as_said(memory, said)
    except StartRefused as refused:
        line = str(refused)
    except (apsw.CorruptError, apsw.NotADBError):  # in the start, where run_service refuses it
        return REFUSED
    assert "\n" not in line
    assert "store.db" in line
    return REFUSED


async def is_told(memory: MemoryAtHand) -> bool:
    """Whether the health tells of damage once everything was looked at."""
    await Soundness(memory.store, Hasty()).run()
    async with asyncio.timeout(20):
        while INTEGRITY_CHECK in {task.get_name() for task in asyncio.all_tasks()}:
            await asyncio.sleep(0.002)
    return "store_damaged" in memory.board.troubles()


async def must_be_as_said(memory: MemoryAtHand, said: dict[str, Kept]) -> str:
    """SOUND where each log is a beginning of what was said, and goes on; AssertionError where it is not."""
    for log, kept in (await messages_of(memory)).items():
        assert kept == said[log][: len(kept)]
        assert [one[0] for one in kept] == list(range(len(kept)))
        if log == LOG:
            view = await memory.view(log)
            ends = [tuple(map(int, line.split("|")[0].split("+"))) for line in view.text.splitlines()[1:-1]]
            assert [first for first, _ in ends] == [0, *(first + count for first, count in ends)][:-1]
            assert sum(count for _, count in ends) == view.length == len(kept)
        answer = await memory.append(new_message("after", "after"), log=log)
        assert answer.appended[0].first_id == len(kept)
    return SOUND


def edit(sql: str) -> Callable[[Path], None]:
    """What no code of ours does to a store."""

    def hurt(store: Path) -> None:
        db = apsw.Connection(str(store))
        db.execute(sql).fetchall()
        db.close()

    return hurt
