"""Children as a test finds or leaves them on disk: their folders, their rows, and when they are ready.

Over what agent_house.py starts. Times are seconds.
"""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

import apsw
from onechat_agent.__main__ import MIGRATIONS, NAME
from onechat_agent.adapters import agent_folder, agent_rows
from onechat_agent.domain.agent import Agent, AgentState, Role
from onechat_agent.domain.chat import AgentId
from onechat_runtime.clock import SystemClock
from onechat_runtime.store import migrations_in

from tests.fakes.agent_house import House, living
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import ScriptedModel
from tests.fakes.stores import store_at

HOUSE = AgentId("0123456789abcdef")
AREA = "Heating and repairs"
TIMEOUT_S = 20.0


def agents_in(folder: Path) -> Path:
    """Where the agents' folders of the service in `folder` lie."""
    return folder / "data" / "agent" / "agents"


def put_house(folder: Path) -> None:
    """The folder of a child as a person would put it there."""
    agent_folder.make(agents_in(folder), "House", HOUSE, area=AREA)


def take_house_away(folder: Path) -> None:
    """As a person removes a child."""
    shutil.rmtree(agents_in(folder) / "House")


async def started_once(folder: Path, memory: MemoryServer, model: ScriptedModel) -> AgentId:
    """A root that was there before; its id."""
    async with living(folder, memory, model) as house:
        await ready(house, "One")
        return house.seat.id


async def house_opened_once(folder: Path, memory: MemoryServer, model: ScriptedModel) -> AgentId:
    """A root and its child House that were there before; the root's id."""
    root = await started_once(folder, memory, model)
    put_house(folder)
    async with living(folder, memory, model) as house:
        await ready(house, "House")
    return root


async def change_rows(folder: Path, job: Callable[[apsw.Connection], None]) -> None:
    """Makes the store what a start that was killed has left."""
    path = folder / "data" / "agent" / "store.db"
    clock = SystemClock()
    async with store_at(path, component=NAME, migrations=migrations_in(MIGRATIONS), clock=clock) as store:
        await store.write(job)


def children(house: House) -> dict[str, tuple[str, AgentState]]:
    """Each child's id and how far it is, by name."""
    rows = house.store.read(lambda db: agent_rows.of_role(db, Role.CHILD))
    return {row.name: (row.id, row.state) for row in rows}


async def ready(house: House, name: str) -> None:
    """Returns once the agent of that name is ready."""

    async def is_ready() -> bool:
        row = house.store.read(lambda db: agent_rows.named(db, name))
        return row is not None and row.state is AgentState.READY

    await until(is_ready)


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Returns once `condition` holds; TimeoutError after a while."""
    async with asyncio.timeout(TIMEOUT_S):
        while not await condition():
            await asyncio.sleep(0.01)


def half_made(root: AgentId) -> Agent:
    """House as its row stands before its log and its folder are there."""
    return Agent(id=HOUSE, name="House", role=Role.CHILD, state=AgentState.CREATING, parent=root, area=AREA)
