"""One script for the memory service, with an act for each of its commits; and all that a run leaves behind.

Tests break the acts in some way (a kill, a full disk), do them again as a caller would, and compare what is
left with a run that was not broken.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
from onechat.memory.v1.log_pb2 import ViewLimits
from onechat_runtime.errors import RemoteError, ServiceError

from tests.fakes.clock import ManualClock
from tests.fakes.memory_server import MemoryServer, new_message
from tests.fakes.pictures import picture

CHAT, COMPACTION = ViewLimits(high_bytes=2_400, low_bytes=1_200), ViewLimits(high_bytes=1_200, low_bytes=600)
LONG = "x" * 600
MESSAGES = 20
SHORT = [number for number in range(MESSAGES) if number not in (7, 9)]  # the other two wait for lines
_WHEN = {"time", "create_time", "line_time"}  # columns that tell when a thing happened
_COSTS = {"model_lines", "model_calls", "over_length_answers", "retries"}
_INDEX = "message_words"

Act = Callable[[MemoryServer], Awaitable[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Committing:
    """A commit point, and what a caller does to come there; done again, it changes nothing more."""

    act: Act
    within: str = ""  #: the function that hands the job over, where that is another task's
    nth: int = 1
    ignored: frozenset[str] = frozenset()  #: columns of what a kill may lose or repeat
    steps: frozenset[str] = frozenset()  #: columns that tell how far it has come, in a commit a step


async def nothing(memory: MemoryServer) -> None:
    """The point lies in the start, or comes by itself."""


async def append(memory: MemoryServer) -> None:
    """A known message, a long one, and such as wait for a line."""
    long = "a line of a text that is too long for one message\n" * 1_000
    new = (new_message("a", "one more"), new_message("b", long), new_message("c", LONG))
    await memory.append(new_message("m:3", text(3)), *new)


async def complete(memory: MemoryServer) -> None:
    """A message's line."""
    try:
        await memory.complete("7+1", "the line of a message", builder="test")
    except (RemoteError, ServiceError) as refused:
        if refused.reason != "NODE_BUILT":  # the first one's answer was lost
            raise


async def fail(memory: MemoryServer) -> None:
    """The third time; then the source's head stands."""
    while (await memory.stats()).degraded_nodes < 1:
        leased = await memory.lease("one")
        piece = next(piece for piece in leased.pieces if (piece.first_id, piece.count) == (9, 1))
        await memory.fail(piece, "CAUSE_CONTENT")


async def ask_in_vain(memory: MemoryServer) -> None:
    """A piece comes back, and what it cost is counted."""
    leased = await memory.lease("one")
    await memory.fail(leased.pieces[0], "CAUSE_UNAVAILABLE", calls=2)


#: Every commit point of the service. A test of tests/system fails when the code has another one.
POINTS: dict[str, Committing] = {
    "log_changes.load": Committing(act=nothing),
    "chat_logs.create": Committing(act=lambda memory: memory.create("new", label="New")),
    "joined_appends.append": Committing(act=append),
    "chat_logs.fitted_view": Committing(act=lambda memory: memory.view()),
    "chat_logs.complete": Committing(act=complete),
    "chat_logs.fail": Committing(act=fail),
    "chat_logs.ask_in_vain": Committing(act=ask_in_vain, ignored=frozenset(_COSTS | {"revision"})),
    "images.put": Committing(act=lambda memory: memory.put_image(picture(9_000, seed=2)), within="_keep"),
    "indexing.step": Committing(act=lambda memory: memory.search("word"), steps=frozenset({"indexed"})),
    "indexing.run": Committing(act=nothing),
    "upkeep.rebuild": Committing(
        act=lambda memory: memory.rebuild(demo=True, request_id="rebuild"), within="_once"
    ),
    "upkeep.swap": Committing(
        act=lambda memory: memory.swap("staged", "old", log="other", request_id="swap"), within="_once"
    ),
    "upkeep.delete": Committing(
        act=lambda memory: memory.delete("kept", request_id="delete"), within="_once"
    ),
    "removing.run": Committing(act=lambda memory: memory.delete("kept", request_id="delete"), nth=2),
}


def text(number: int) -> str:
    """Of the message of this number; it alone has its first word."""
    return f"word{number} " + "word " * (17 * number % 150)


async def make_base(memory: MemoryServer, clock: ManualClock) -> None:
    """Logs of every kind, with work that is ready, failing, owed and to be removed."""
    await memory.create(chat_view=CHAT, compaction_view=COMPACTION)
    for number in range(MESSAGES):
        await memory.append(new_message(f"m:{number}", text(number) if number in SHORT else LONG))
    for _ in range(2):
        piece = next(piece for piece in (await memory.lease("base")).pieces if piece.first_id == 9)
        await memory.fail(piece, "CAUSE_CONTENT")
        clock.advance(10)
    for number in range(4):
        await _build(memory, f"builder {number}", spare={"7+1", "9+1"})
    for log, state in (("other", ""), ("staged", "STAGED"), ("older", "STAGED")):
        await memory.create(log, **({"state": f"LOG_STATE_{state}"} if state else {}))
        some = (new_message(f"{log}:{number}", f"{log} {number}") for number in range(9))
        await memory.append(*some, log=log)
    await memory.swap("older", "kept", log="other")
    await memory.put_image(picture(9_000, seed=1))


async def _build(memory: MemoryServer, holder: str, *, spare: set[str]) -> None:
    """Give lines, for a node always the same one, to what is ready."""
    leased = await memory.lease(holder)
    for piece in leased.pieces:
        name = f"{piece.first_id}+{piece.count}"
        if name not in spare:
            await memory.complete(name, f"the line of {name} " * 14, log=leased.log_id, builder="demo")


async def go_on(memory: MemoryServer) -> None:
    """The rest of the script."""
    await memory.append(*(new_message(f"z:{number}", f"later {number}") for number in range(5)))
    while (leased := await memory.lease("later")).pieces:
        for piece in leased.pieces:
            name = f"{piece.first_id}+{piece.count}"
            await memory.complete(name, f"the line of {name} " * 14, log=leased.log_id, builder="test")
    await memory.view()


async def asked(memory: MemoryServer) -> dict[str, Any]:
    """What calls answer about all logs."""
    logs = await memory.logs()
    keys = {log: [(one.id, one.key, one.part) for one in await memory.messages(log=log)] for log in logs}
    return {
        "logs": {log: (found.label, found.length, found.generation) for log, found in logs.items()},
        "keys": keys,
        "view": (await memory.view()).text,
        "words": {number: await memory.found(f"word{number}", size=50) for number in SHORT},
    }


def kept(folder: Path, ignored: frozenset[str]) -> dict[str, Any]:
    """Each row but for its times, and the names of all files."""
    store = apsw.Connection(str(folder / "store.db"), flags=apsw.SQLITE_OPEN_READONLY)
    tables = store.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall()
    found: dict[str, Any] = {}
    if not ignored:
        found["index"] = store.execute(f"SELECT count(*) FROM {_INDEX}_docsize").get
    for (table,) in tables:
        if table.startswith(_INDEX):
            continue
        columns = [row[1] for row in store.execute(f"PRAGMA table_info({table})").fetchall()]
        wanted = ", ".join(f'"{name}"' for name in columns if name not in _WHEN | ignored) or "1"
        found[table] = sorted(store.execute(f"SELECT {wanted} FROM {table}").fetchall(), key=repr)
    found["sound"] = store.execute("PRAGMA integrity_check").get
    store.close()
    found["files"] = sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
    return found
