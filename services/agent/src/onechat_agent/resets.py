"""Sets the log of a group's agent aside, as its administrators ask: a fresh one begins, nothing is deleted.

The ids of the logs are on disk before the memory is asked, so that the same request sets aside the same log
however often it comes. The agent writes nothing meanwhile. How logs are exchanged: adapters/memory.py.
"""

import json
import secrets
from typing import Final

import apsw
from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.errors import NeighbourAway, RemoteError, StoreFull, retriable
from onechat_runtime.request_ids import once
from onechat_runtime.store import Store

from onechat_agent import sentences
from onechat_agent.adapters import agent_rows
from onechat_agent.adapters.memory import MemoryClient
from onechat_agent.agents import Agents
from onechat_agent.domain.agent import Role
from onechat_agent.domain.chat import AgentId
from onechat_agent.errors import AgentUnknown

_DONE: Final = "log_set_aside:"  # and the kept log's id: a fact of the store

log = logs.get("onechat.agent")


class Resets:
    """Resets of logs; belongs to one event loop."""

    def __init__(self, store: Store, clock: Clock, memory: MemoryClient, agents: Agents) -> None:
        self._store = store
        self._clock = clock
        self._memory = memory
        self._agents = agents

    async def reset(self, agent_id: str, *, request_id: str, body: bytes) -> AgentId:
        """Under which id the old log of a group's agent is kept.

        A turn at work is stopped; what came before is in the old log, answered or not. Raises
        AgentUnknown, KeyReused, BadRequestId, StoreFull, NeighbourAway.
        """
        agent = self._agents.find(agent_id)
        if not agent_id or agent.role is not Role.GROUP:
            raise AgentUnknown("There is no group's agent of that id.")

        def allot(db: apsw.Connection) -> bytes:
            return once(db, request_id=request_id, body=body, now=self._clock.now(), answer=_new_ids)

        staged, kept = map(AgentId, json.loads(await self._store.write(allot)))
        if not self._is_done(kept):
            await self._agents.between_turns(
                agent.id, sentences.GROUP_CLEARED, lambda: self._set_aside(agent.id, agent.name, staged, kept)
            )
            log.info("log_set_aside", agent=agent.id, kept=kept)
        return kept

    async def _set_aside(self, agent: AgentId, name: str, staged: AgentId, kept: AgentId) -> None:
        if self._is_done(kept):  # by the same request, while this one waited
            return
        try:
            await self._memory.set_aside(agent, staged=staged, kept=kept, label=name)
        except RemoteError as error:
            if error.reason == StoreFull.reason:
                raise StoreFull(error.message) from None
            if retriable(error.code):
                raise NeighbourAway("The memory service does not answer: the log lies there.") from None
            raise
        await self._store.write(lambda db: agent_rows.set_fact(db, f"{_DONE}{kept}", "1"))

    def _is_done(self, kept: AgentId) -> bool:
        return self._store.read(lambda db: agent_rows.fact(db, f"{_DONE}{kept}")) is not None


def _new_ids() -> bytes:
    """Of the fresh log while it is staged, and of the kept one."""
    return json.dumps([secrets.token_hex(8), secrets.token_hex(8)]).encode()
