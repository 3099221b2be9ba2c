"""Files that were cut, overwritten or mixed up: refused, told, or as sound as they were at an earlier moment.

Never may a message silently become another one, or an id another message's. What SQLite itself notices is
little: it has no checksum over its pages, and an old page beside new ones is whole in itself.
"""

import asyncio
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from onechat.memory.v1.log_pb2 import ViewLimits
from onechat_memory.soundness import Soundness
from onechat_runtime.clock import SystemClock
from onechat_runtime.errors import ServiceError, StartRefused
from onechat_runtime.health import HealthBoard
from onechat_runtime.store import INTEGRITY_CHECK, Store

from tests.fakes.memory_at_hand import MemoryAtHand, at_hand
from tests.fakes.memory_server import LOG, new_message, remembering

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


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> Bases:
    made = Bases(tmp_path_factory.mktemp("bases"))
    asyncio.run(made.make())
    return made


@pytest.fixture
def damaged(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """Copies a base, hurts its files, and gives the folder."""

    def copied(base: Path, hurt: Callable[[Path], None], *, killed: bool = True) -> Path:
        folder = tmp_path / "damaged"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(base, folder)
        (folder / "memory" / "store.db.lock").write_text("1\n" if killed else "")
        hurt(folder / "memory" / "store.db")
        return folder

    return copied


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


def edit(sql: str) -> Callable[[Path], None]:
    """What no code of ours does to a store."""

    def hurt(store: Path) -> None:
        db = apsw.Connection(str(store))
        db.execute(sql).fetchall()
        db.close()

    return hurt


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
