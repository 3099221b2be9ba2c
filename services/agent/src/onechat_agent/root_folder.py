"""The root's folder and row, made at the first start; both follow a changed name.

What is on disk of an agent: adapters/agent_folder.py. Who is at work: agents.py.
"""

import secrets
from pathlib import Path

from onechat_runtime.clock import Clock
from onechat_runtime.errors import StartRefused
from onechat_runtime.store import Store

from onechat_agent.adapters import agent_folder, agent_rows
from onechat_agent.adapters.agent_folder import AgentFolder
from onechat_agent.domain.agent import Agent, AgentState, Role
from onechat_agent.domain.chat import AgentId


async def open_root(store: Store, clock: Clock, agents: Path, name: str) -> AgentFolder:
    """The root's folder, made at the first start; it follows a changed name.

    Raises StartRefused when agents/ or the root's own folder is gone though the store knows the root: a mount
    that did not come up must not make everybody forgotten.
    """
    row = store.read(agent_rows.root)
    if row is None:
        row = await _make_root(store, clock, agents, name)
    path = agents / name
    if row.state is AgentState.READY and not (agents / row.name).is_dir() and not path.is_dir():
        raise StartRefused(
            f"{agents / row.name} is missing, though {row.name} was there before. Mount or restore the "
            "agents folder and start again; nothing was changed."
        )
    other = store.read(lambda db: agent_rows.named(db, name))
    if other is not None and other.id != row.id:
        raise StartRefused(f"{other.name} is another agent's name. Set ONECHAT_NAME to one that nobody has.")
    if row.name != name:
        await _rename(store, agents, row, name)
    if row.state is AgentState.CREATING:
        agent_folder.make_root(agents)
        agent_folder.make(agents, name, row.id)
    folder = agent_folder.read(path)
    if folder.id != row.id:
        raise StartRefused(
            f"{path / agent_folder.SETTINGS_FILE} belongs to another store: its id is not {name}'s. "
            "Restore data and agents together."
        )
    return folder


async def _make_root(store: Store, clock: Clock, agents: Path, name: str) -> Agent:
    """The root's row; a whole folder that is there already gives it its id."""
    path = agents / name
    known = agent_folder.read(path).id if (path / agent_folder.SETTINGS_FILE).exists() else None
    row = Agent(
        id=known or AgentId(secrets.token_hex(8)), name=name, role=Role.ROOT, state=AgentState.CREATING
    )
    agent_folder.make_root(agents)
    await store.write(lambda db: agent_rows.add(db, row, clock.now()))
    return row


async def _rename(store: Store, agents: Path, row: Agent, name: str) -> None:
    """The folder first, then the row: killed between the two, the next start finds the folder renamed."""
    agent_folder.rename(agents, row.name, name, row.id)
    await store.write(lambda db: agent_rows.rename(db, row.id, name))
