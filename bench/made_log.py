"""Logs of any length with a settled tree, made once by the memory service's own code and kept for later runs.

Made logs lie in the folder for temporary files under a name that tells what is in them, and are copied for
each use. Texts (made_texts.py) have the sizes of a chat with tools, lines those that a model writes; no model
is asked. The log's id and label fit an agent service whose root has the id LOG.
"""

import asyncio
import fcntl
import functools
import hashlib
import os
import random
import re
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import apsw
from onechat_memory.__main__ import MIGRATIONS, NAME
from onechat_memory.adapters.log_store import LogStore
from onechat_memory.adapters.search import SearchStore
from onechat_memory.adapters.tree_store import TreeStore
from onechat_memory.chat_log import ChatLog
from onechat_memory.domain.leases import LogId
from onechat_memory.domain.messages import Kind, NewLog, NewMessage, Shape, State
from onechat_memory.domain.tree import leaf
from onechat_memory.domain.view import CHAT, COMPACTION, View
from onechat_memory.held_views import Views
from onechat_runtime.clock import SystemClock
from onechat_runtime.store import Store, migrations_in

from bench.made_texts import SEED, line, text_of

LOG: Final = LogId("benchmark")
LABEL: Final = "One"  # the root's name, which the agent service asks for
MAKING: Final = 4  # raised when what is made changes
AT_ONCE: Final = 64  # messages that come before their lines are built
IN_COMMIT: Final = 2_048  # messages
CACHE_KIB: Final = 262_144  # of pages in memory, while a log is made
START: Final = datetime(2026, 1, 1, 9, tzinfo=UTC)

_OF_100: Final = [
    *[Kind.USER] * 20,
    *[Kind.REPLY] * 25,
    *[Kind.TOOL] * 22,
    *[Kind.ECHO] * 22,
    *[Kind.WORK] * 11,
]
_NEW_LOG: Final = NewLog(
    id=LOG, label=LABEL, shape=Shape.TREE, state=State.LIVE, chat=CHAT, compaction=COMPACTION
)


@contextmanager
def data_with(messages: int) -> Iterator[Path]:
    """A data folder of its own that holds a log of `messages`; removed at the end."""
    with tempfile.TemporaryDirectory(prefix="onechat-bench-") as folder:
        data = Path(folder) / "data"
        shutil.copytree(_made(messages), data, copy_function=_copy_synced)
        yield data


def _copy_synced(source: str, target: str) -> str:
    """Copy a file to the disk and not only towards it, which would go on during the measuring."""
    shutil.copy2(source, target)
    file = os.open(target, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
    return target


def _made(messages: int) -> Path:
    """The kept data folder with a log of `messages`, made if it is not there."""
    # Without comments: a log need not be made anew for a word.
    schema = "\n".join(re.sub(r"\s*--.*", "", one.sql) for one in migrations_in(MIGRATIONS))
    contents = hashlib.sha256(f"{MAKING} {SEED} {AT_ONCE} {schema}".encode()).hexdigest()[:12]
    kept = Path(tempfile.gettempdir()) / f"onechat-bench-{os.getuid()}" / f"log-{messages}-{contents}"
    kept.parent.mkdir(mode=0o700, exist_ok=True)
    with _one_maker(kept.with_name(f"log-{messages}.lock")):
        if not kept.exists():
            for older in kept.parent.glob(f"log-{messages}-*"):
                shutil.rmtree(older)
            _make_beside(kept, messages)
    return kept


@contextmanager
def _one_maker(lock: Path) -> Iterator[None]:
    """Others that want the same log wait until it is made."""
    file = os.open(lock, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def _make_beside(kept: Path, messages: int) -> None:
    """Make the log in a folder of another name, so that `kept` is whole once it is there."""
    with tempfile.TemporaryDirectory(prefix="making-", dir=kept.parent) as folder:
        data = Path(folder) / "data"
        data.mkdir()
        # A thread of its own: the caller's event loop is at work already.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, _make(data, messages)).result()
        data.rename(kept)


async def _make(data: Path, messages: int) -> None:
    rng, clock = random.Random(SEED), SystemClock()
    views = Views(revision=0, chat=View(CHAT), compaction=View(COMPACTION))
    path, migrations = data / NAME / "store.db", migrations_in(MIGRATIONS)
    async with Store.open(path, component=NAME, migrations=migrations, clock=clock) as store:
        await store.write(lambda db: LogStore(db).create(_NEW_LOG, START))
        await store.write(lambda db: db.execute(f"PRAGMA cache_size=-{CACHE_KIB}").fetchall())
        for start in range(0, messages, IN_COMMIT):
            ids = range(start, min(start + IN_COMMIT, messages))
            await store.write(functools.partial(_grow, ids=ids, views=views, rng=rng))
            await store.write(_index)


def _grow(db: apsw.Connection, *, ids: range, views: Views, rng: random.Random) -> None:
    """Append the messages of `ids`, some at a time, and build all that can be built."""
    logs = LogStore(db)
    row = logs.log(LOG)
    assert row is not None
    tree = TreeStore(db, row.number)
    chat = ChatLog(row, logs, tree, views, START)
    for some in _some_at_once(ids):
        chat.append([_message(number, rng) for number in some])
        ready = [node for node in map(leaf, some) if tree.size(node) is None]
        while ready:
            for node in ready:
                chat.complete(node, line(rng), "benchmark")
            ready = tree.ready_merges(AT_ONCE)
    chat.fit()
    chat.save()


def _index(db: apsw.Connection) -> None:
    """Take all words into the index and merge what is due there, in the steps of an idle service."""
    row, index = LogStore(db).log(LOG), SearchStore(db)
    assert row is not None
    while (progress := index.take_in(row.number)) and progress.indexed < progress.length:
        pass
    while index.merge():
        pass


def _some_at_once(ids: range) -> Iterator[range]:
    """`ids` in runs of AT_ONCE."""
    for start in range(ids.start, ids.stop, AT_ONCE):
        yield range(start, min(start + AT_ONCE, ids.stop))


def _message(number: int, rng: random.Random) -> NewMessage:
    kind = rng.choice(_OF_100)
    return NewMessage(
        key=f"benchmark:{number}",
        kind=kind,
        text=text_of(kind, rng),
        time=START + timedelta(minutes=number),
        zone="Europe/Rome",
        source="user" if kind is Kind.USER else "",
        turn=f"turn-{number // 8}",
        step=number % 8,
        call="",
        images=(),
    )
