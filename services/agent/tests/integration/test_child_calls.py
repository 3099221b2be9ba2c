"""A child whose call does not come to its end: what is on disk of it is a child all the same."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from onechat_agent.__main__ import MIGRATIONS, NAME
from onechat_agent.adapters import agent_rows
from onechat_agent.adapters.agent_folder import AgentFolder
from onechat_agent.children import Children
from onechat_agent.domain.agent import Role
from onechat_agent.domain.chat import AgentId
from onechat_agent.housed import Housing
from onechat_runtime.clock import SystemClock
from onechat_runtime.store import Store, migrations_in

from tests.fakes.agent_house import settings_in
from tests.fakes.child_folders import AREA, TIMEOUT_S


class _Seats:
    """Gives a seat that is no more than its agent's id."""

    def child(self, folder: AgentFolder, parent: AgentId) -> Any:
        return SimpleNamespace(id=folder.id)


async def test_a_child_whose_call_is_stopped_as_its_row_is_written_lives_all_the_same(tmp_path: Path) -> None:
    """Its row is there, so it is listed and can be told things: somebody must be there to read them."""
    settings, clock = settings_in(tmp_path), SystemClock()
    root = AgentFolder(path=settings.agents_folder / "One", id=AgentId("root"))
    living_ones: list[str] = []
    lives = asyncio.Event()

    def live(seat: Any, made: Any) -> None:
        living_ones.append(seat.id)
        lives.set()

    path = tmp_path / "data" / "agent" / "store.db"
    async with Store.open(path, component=NAME, migrations=migrations_in(MIGRATIONS), clock=clock) as store:
        housing = Housing(
            settings=settings,
            store=store,
            clock=clock,
            seating=cast(Any, _Seats()),
            departures=cast(Any, None),  # nobody goes
            root=root,
            live=live,
        )
        children = Children(housing)
        making = asyncio.ensure_future(children.create("House", AREA, request_id="t:turn:1:1"))
        await asyncio.sleep(0)  # its row is on its way
        making.cancel()
        async with asyncio.timeout(TIMEOUT_S):
            await lives.wait()

        rows = store.read(lambda db: agent_rows.of_role(db, Role.CHILD))
        assert [row.id for row in rows] == living_ones
        assert making.cancelled()
