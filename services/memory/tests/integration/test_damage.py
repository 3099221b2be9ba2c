"""Files that were cut, overwritten or mixed up: refused, told, or as sound as they were at an earlier moment.

Never may a message silently become another one, or an id another message's. What SQLite itself notices is
little: it has no checksum over its pages, and an old page beside new ones is whole in itself.
"""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest
from onechat_runtime.clock import SystemClock
from onechat_runtime.errors import ServiceError, StartRefused
from onechat_runtime.store import Store

from tests.fakes.damaged_memory import REFUSED, SOUND, TOLD, Bases, is_told, messages_of, outcome
from tests.fakes.memory_at_hand import at_hand
from tests.fakes.memory_server import new_message


def cut(share: float, suffix: str = "") -> Callable[[Path], None]:
    def hurt(store: Path) -> None:
        file = store.with_name(store.name + suffix)
        with file.open("r+b") as opened:
            opened.truncate(int(file.stat().st_size * share))

    return hurt


def overwrite(seed: int, length: int, suffix: str = "") -> Callable[[Path], None]:
    """`length` bytes somewhere become others."""

    def hurt(store: Path) -> None:
        file, dice = store.with_name(store.name + suffix), random.Random(seed)
        content = bytearray(file.read_bytes())
        place = dice.randrange(max(1, len(content) - length))
        for at in range(place, min(place + length, len(content))):
            content[at] ^= dice.randrange(1, 256)
        file.write_bytes(content)

    return hurt


def nothing(store: Path) -> None:
    pass


async def test_files_that_nobody_hurt_are_sound_however_their_process_ended(bases, damaged):
    for base in (bases.clean, bases.killed, bases.checkpointed):
        folder = damaged(base, nothing)
        async with at_hand(folder, SystemClock()) as memory:
            assert not await is_told(memory)
            assert await messages_of(memory) == bases.said


@pytest.mark.parametrize("share", [0.001, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.9999])
@pytest.mark.parametrize("killed", [True, False])
async def test_a_store_that_was_cut_off_is_refused(bases, damaged, share, killed):
    assert await outcome(damaged(bases.clean, cut(share), killed=killed), bases.said) == REFUSED


@pytest.mark.parametrize("share", [0, 0.01, 0.2, 0.4, 0.6, 0.8, 0.95, 0.999])
async def test_a_log_of_sqlite_that_was_cut_off_leaves_an_earlier_moment(bases, damaged, share):
    """Which commits were in it nobody can know any more; what is there is right."""
    assert await outcome(damaged(bases.killed, cut(share, "-wal")), bases.said) == SOUND


async def test_a_log_of_sqlite_that_is_gone_leaves_an_earlier_moment_or_a_refusal(bases, damaged):
    def remove(store: Path) -> None:
        store.with_name("store.db-wal").unlink()

    assert await outcome(damaged(bases.killed, remove), bases.said) in (SOUND, REFUSED)


async def hurt_in_many_ways(bases: Bases, damaged: Any, seeds: range) -> dict[str, set[str]]:
    """How each kind of damage was taken, over all its places."""
    ways = {
        "a byte of the store": (bases.clean, 1, ""),
        "a page of the store": (bases.clean, 4_096, ""),
        "a byte of the log": (bases.killed, 1, "-wal"),
        "a page of the log": (bases.killed, 4_096, "-wal"),
        "a byte of a log that the store has too": (bases.checkpointed, 1, "-wal"),
    }
    return {
        name: {await outcome(damaged(base, overwrite(seed, length, suffix)), bases.said) for seed in seeds}
        for name, (base, length, suffix) in ways.items()
    }


async def test_bytes_that_became_others_are_told_or_change_no_message(bases, damaged):
    """A few places; the long run below takes hundreds."""
    found = await hurt_in_many_ways(bases, damaged, range(5))

    assert {TOLD, SOUND} <= found["a byte of the store"]  # some lie where nothing is


@pytest.mark.soak
@pytest.mark.timeout(900)
async def test_bytes_that_became_others_anywhere_are_told_or_change_no_message(bases, damaged):
    await hurt_in_many_ways(bases, damaged, range(100, 220))


async def test_a_store_of_zero_bytes_beside_what_a_life_left_is_refused(bases, damaged):
    """SQLite would begin a new store and throw the log away."""

    def empty(store: Path) -> None:
        store.write_bytes(b"")

    folder = damaged(bases.killed, empty)
    log = (folder / "memory" / "store.db-wal").read_bytes()

    assert await outcome(folder, bases.said) == REFUSED
    assert (folder / "memory" / "store.db-wal").read_bytes() == log


async def test_a_first_start_that_was_killed_begins_anew(tmp_path):
    (tmp_path / "memory").mkdir(mode=0o700)
    (tmp_path / "memory" / "store.db").touch()
    (tmp_path / "memory" / "store.db.lock").write_text("1\n")

    async with at_hand(tmp_path, SystemClock()) as memory:
        await memory.create()
        assert (await memory.append("hello")).length == 1


async def test_the_store_of_another_service_is_refused(tmp_path):
    path = tmp_path / "memory" / "store.db"
    async with Store.open(path, component="agent", migrations=(), clock=SystemClock()):
        pass
    apsw.Connection(str(path)).execute("INSERT INTO store_migrations VALUES ('agent', 1, 'queue', 0)")

    with pytest.raises(StartRefused, match="is the store of agent"):
        async with at_hand(tmp_path, SystemClock()):
            pass


async def test_calls_that_meet_damage_are_told_by_the_health(bases, damaged):
    """Their callers learn of a failure only."""

    def hurt(store: Path) -> None:
        db = apsw.Connection(str(store))
        (root,) = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'messages_by_key'").fetchall()[
            0
        ]
        db.close()
        with store.open("r+b") as file:
            file.seek((root - 1) * 4_096)
            file.write(b"\xff" * 4_096)

    async with at_hand(damaged(bases.clean, hurt, killed=False), SystemClock()) as memory:
        with pytest.raises((apsw.CorruptError, ServiceError)):
            await memory.append(new_message("new", "new"))

        assert "store_damaged" in memory.board.troubles()
