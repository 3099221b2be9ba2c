"""Who may name whom: the root its children and its subagents, a child its subagents, a subagent itself.

Names are the same in any case of their letters, and with the brackets in which messages show them. A finished
subagent can be named too, a removed agent cannot.
What is said to them: tells.py. What of them is read: tools/memory.py.
"""

from typing import Final

from onechat_runtime.store import Store

from onechat_agent.adapters import agent_rows
from onechat_agent.domain.agent import Agent, Role
from onechat_agent.domain.chat import AgentId

SUBAGENTS_SHOWN: Final = 20  # of hundreds that there may have been


class Kin:
    """Agents as those see them to whom they belong."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def own(self, agent: AgentId, name: str) -> Agent | None:
        """The child or subagent of `agent` that is called `name`; None where it has nobody of that name."""
        found = self._named(name)
        return found if found is not None and found.parent == agent else None

    def readable(self, agent: AgentId, name: str) -> Agent | None:
        """Whose memory `agent` reads by `name`: its own people's, and a subagent its own chat; else None."""
        found = self._named(name)
        return found if found is not None and agent in (found.parent, found.id) else None

    def names(self, agent: AgentId) -> list[str]:
        """The names of the children of `agent` and of its latest subagents, oldest first."""
        found = self._store.read(lambda db: agent_rows.of_parent(db, agent))
        children = [one.name for one in found if one.role is not Role.SUBAGENT]
        return children + [one.name for one in found if one.role is Role.SUBAGENT][-SUBAGENTS_SHOWN:]

    def _named(self, name: str) -> Agent | None:
        bare = name.strip().removeprefix("[").removesuffix("]")
        return self._store.read(lambda db: agent_rows.named(db, bare))
