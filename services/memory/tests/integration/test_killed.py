"""SIGKILL at any point of a write: nothing acknowledged is lost, nothing is there twice, the views go on."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from onechat.memory.v1.log_pb2 import ViewLimits
from onechat_runtime.channels import open_channel
from onechat_runtime.errors import RemoteError
from onechat_runtime.tokens import read_token

from tests.fakes.killable_memory import Remote, killable
from tests.fakes.memory_rows import lines_of, nodes_of
from tests.fakes.memory_server import MemoryServer, new_message, remembering

CHAT, COMPACTION = ViewLimits(high_bytes=2_400, low_bytes=1_200), ViewLimits(high_bytes=1_200, low_bytes=600)
MESSAGES = 24
BUILT_UP_TO = 12  # messages; the rest of the nodes is built late, so that batches are owed meanwhile


def message(number: int) -> Any:
    return new_message(f"m:{number}", f"{number}: " + "word " * (17 * number % 190))


def is_built_at(number: int) -> bool:
    return number < BUILT_UP_TO or number > MESSAGES - 4


async def append(memory: MemoryServer, number: int) -> None:
    await memory.append(message(number))


async def build(memory: MemoryServer) -> None:
    """Give a line, always the same one, for each piece that is ready."""
    while (leased := await memory.lease("builder")).pieces:
        for piece in leased.pieces:
            name = f"{piece.first_id}+{piece.count}"
            try:
                await memory.complete(name, f"the line of {name} " * 15, builder="test")
            except RemoteError as refused:
                if refused.reason != "NODE_BUILT":  # its answer was lost
                    raise


async def go_through(memory: MemoryServer, start: int) -> None:
    """The whole script from message `start` on."""
    for number in range(start, MESSAGES):
        await append(memory, number)
        if is_built_at(number):
            await build(memory)
    await memory.view()


async def everything(memory: MemoryServer) -> dict[str, Any]:
    """All that two stores of the same script must have in common."""
    stats = await memory.stats()
    stats.log.ClearField("create_time")
    return {
        "view": await memory.view(),
        "stats": stats,
        "messages": await memory.messages(),
        "nodes": memory.store.read(lambda db: [node[:5] for node in nodes_of(db, 1)]),
        "chat": memory.store.read(lambda db: lines_of(db, 1, "chat")),
        "compaction": memory.store.read(lambda db: lines_of(db, 1, "compaction")),
    }


@pytest.fixture(scope="module")
def never_killed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    async def twin() -> dict[str, Any]:
        async with remembering(tmp_path_factory.mktemp("twin")) as memory:
            await memory.create(chat_view=CHAT, compaction_view=COMPACTION)
            await go_through(memory, 0)
            return await everything(memory)

    found = asyncio.run(twin())
    assert found["stats"].batches > 1
    return found


async def until_killed(memory: MemoryServer) -> int:
    """The script from the beginning; the number of the message at which the service was gone."""
    for number in range(MESSAGES):
        try:
            await append(memory, number)
            if is_built_at(number):
                await build(memory)
        except RemoteError:
            return number
    raise AssertionError("it was not killed")


def counted(view: Any) -> int:
    """How many messages the lines of a view stand for."""
    return sum(int(line.split("|")[0].split("+")[1]) for line in view.text.splitlines()[1:-1])


@pytest.mark.parametrize(
    ("point", "number", "owed"),
    [
        ("before", 2, False),
        pytest.param("INSERT INTO messages", 7, False, marks=pytest.mark.soak),
        ("INSERT INTO nodes", 9, False),
        pytest.param("INSERT INTO view_lines", 12, False, marks=pytest.mark.soak),
        pytest.param("DELETE FROM view_lines", 2, False, marks=pytest.mark.soak),
        pytest.param("UPDATE logs", 42, True, marks=pytest.mark.soak),
        ("uncommitted", 43, True),
        ("committed", 42, True),
    ],
)
async def test_a_service_that_is_killed_goes_on_as_if_nothing_had_happened(
    tmp_path: Path, never_killed: dict[str, Any], point: str, number: int, owed: bool
):
    data = tmp_path / "data"
    data.mkdir()
    async with remembering(data) as memory:
        await memory.create(chat_view=CHAT, compaction_view=COMPACTION)
    with killable(data, point, number) as address:
        token = read_token(data / "tokens" / "agent")
        async with open_channel(address, token=token, name="memory") as channel:
            gone_at = await until_killed(Remote(channel))

    async with remembering(data) as memory:
        kept = await memory.messages()
        assert len(kept) in (gone_at, gone_at + 1)
        assert [one.key for one in kept] == [f"m:{n}" for n in range(len(kept))]
        assert (await memory.stats()).batch_owed is owed
        assert counted(await memory.view()) == len(kept)
        await go_through(memory, gone_at)
        found = await everything(memory)

    assert found == never_killed
