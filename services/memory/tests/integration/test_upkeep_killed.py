"""SIGKILL around the commit of a swap, a rebuild and a deletion: wholly done or not at all, and then once."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from onechat_runtime.channels import open_channel
from onechat_runtime.errors import RemoteError
from onechat_runtime.tokens import read_token

from tests.fakes.killable_memory import Remote, killable
from tests.fakes.memory_server import LOG, MemoryServer, remembering

LONG = "x" * 600
LEFT = ("messages", "nodes", "unbuilt_leaves", "view_lines")


def seldom(*values: Any) -> Any:
    """A point between two that are looked at in every run."""
    return pytest.param(*values, marks=pytest.mark.soak)


@asynccontextmanager
async def killed_at(data: Path, point: str) -> AsyncIterator[Remote]:
    """The service over the store in `data`, which must kill itself at `point` before the end."""
    with killable(data, point, 1) as address:
        token = read_token(data / "tokens" / "agent")
        async with open_channel(address, token=token, name="memory") as channel:
            yield Remote(channel)


async def two_logs(memory: MemoryServer) -> None:
    """A live log that could not be told from the staged one by its length."""
    await memory.create(label="House")
    await memory.append("old", LONG)
    await memory.complete("1+1", "l" * 300, builder="demo")
    await memory.create("staged", state="LOG_STATE_STAGED")
    await memory.append("new", LONG, log="staged")


@pytest.fixture
async def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    async with remembering(folder) as memory:
        await two_logs(memory)
    return folder


async def logs_of(memory: MemoryServer) -> dict[str, Any]:
    """What each log holds, by its id."""
    return {
        log: (found.generation, found.state, found.label, (await memory.messages(log=log))[0].text)
        for log, found in (await memory.logs()).items()
    }


@pytest.mark.parametrize(
    ("point", "done"),
    [
        seldom("UPDATE logs SET id", False),
        ("UPDATE logs SET id = ?, label", False),
        seldom("INSERT OR REPLACE INTO request_ids", False),
        ("uncommitted:UPDATE logs SET id", False),
        ("committed:UPDATE logs SET id", True),
    ],
)
async def test_a_killed_swap_is_whole_or_not_there_and_the_next_one_ends_it(
    data: Path, tmp_path: Path, point: str, done: bool
):
    async with remembering(tmp_path / "twin") as twin:
        await two_logs(twin)
        before = await logs_of(twin)
        await twin.swap()
        after = await logs_of(twin)
        view, kept = await twin.view(), await twin.view("kept")

    async with killed_at(data, point) as memory:
        with pytest.raises(RemoteError):
            await memory.swap(request_id="swap")

    async with remembering(data) as memory:
        assert await logs_of(memory) == (after if done else before)
        assert (await memory.swap(request_id="swap")).generation == 2
        assert await logs_of(memory) == after
        assert (await memory.view(), await memory.view("kept")) == (view, kept)
        assert (await memory.lease()).generation == 2


@pytest.mark.parametrize(
    ("point", "done"),
    [
        seldom("INSERT INTO rebuilds", False),
        seldom("INSERT OR REPLACE INTO request_ids", False),
        ("uncommitted:INSERT INTO rebuilds", False),
        ("committed:INSERT INTO rebuilds", True),
    ],
)
async def test_a_killed_rebuild_call_frees_all_or_none(data: Path, point: str, done: bool):
    async with killed_at(data, point) as memory:
        with pytest.raises(RemoteError):
            await memory.rebuild(demo=True, request_id="rebuild")

    async with remembering(data) as memory:
        assert (await memory.stats()).ready_nodes == int(done)
        assert await memory.rebuild(demo=True, request_id="rebuild") == 1
        assert (await memory.stats()).ready_nodes == 1


@pytest.mark.parametrize(
    ("point", "rebuilt"),
    [
        seldom("UPDATE nodes", False),
        seldom("DELETE FROM rebuilds", False),
        ("uncommitted:UPDATE nodes", False),
        ("committed:UPDATE nodes", True),
    ],
)
async def test_a_killed_line_for_a_rebuilt_node_is_the_old_or_the_new_one(
    data: Path, point: str, rebuilt: bool
):
    async with remembering(data) as memory:
        await memory.rebuild(demo=True)

    async with killed_at(data, point) as memory:
        with pytest.raises(RemoteError):
            await memory.complete("1+1", "b" * 200, builder="gpt-5.6")

    async with remembering(data) as memory:
        line = "b" * 200 if rebuilt else "l" * 300
        view, stats = await memory.view(), await memory.stats()
        assert view.text == f"<chat>\n0+1|user: old\n1+1|{line}\n</chat>"
        assert (stats.view_bytes, stats.ready_nodes) == (view.bytes, int(not rebuilt))


@pytest.mark.parametrize(
    "point",
    [
        seldom("UPDATE logs SET id = ?, deleted"),
        "uncommitted:UPDATE logs SET id = ?, deleted",
        "committed:UPDATE logs SET id = ?, deleted",
        seldom("DELETE FROM nodes"),
        "committed:DELETE FROM nodes",
        seldom("DELETE FROM message_words"),
        "DELETE FROM messages",
        seldom("uncommitted:DELETE FROM messages"),
        seldom("committed:DELETE FROM messages"),
        "DELETE FROM logs",
        seldom("committed:DELETE FROM logs"),
    ],
)
async def test_a_deletion_that_is_killed_anywhere_goes_on_to_its_end(data: Path, point: str):
    async with remembering(data) as memory:
        assert await memory.found("old") == [0]
        await memory.swap()
        number = memory.store.read(lambda db: db.execute("SELECT number FROM logs WHERE id = 'kept'").get)

    async with killed_at(data, point) as memory:
        # The removal begins behind the commit, so the answer can come before the end or not.
        with suppress(RemoteError):
            await memory.delete(request_id="delete")

    async with remembering(data) as memory:
        await memory.delete(request_id="delete")
        assert set(await memory.logs()) == {LOG}
        while any(await memory.store.write(lambda db: left(db, number))):
            pass
        assert memory.store.read(lambda db: db.execute("SELECT count(*) FROM message_words").get) == 0
        assert (await memory.messages())[0].text == "new"


def left(db: Any, number: int) -> list[int]:
    """How many rows of the log called `number` are still there, table by table."""
    counts = [db.execute(f"SELECT count(*) FROM {table} WHERE log = ?", (number,)).get for table in LEFT]
    return [*counts, db.execute("SELECT count(*) FROM logs WHERE number = ?", (number,)).get]
