"""The administrators' commands, without a model call: /bot status, /bot clear-memory and its confirmation.

Whoever is no administrator gets one line. Clearing waits in the outbox behind what the group has said so far,
so that this is in the memory that is set aside.
"""

from datetime import tzinfo

import apsw
from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.errors import RemoteError
from onechat_runtime.store import Store

from onechat_telegram.groups import heard_rows, rows
from onechat_telegram.groups.batching import Batching
from onechat_telegram.groups.deliveries import Lanes
from onechat_telegram.groups.domain import wording
from onechat_telegram.groups.domain.commands import AdminCommand, confirms
from onechat_telegram.groups.domain.group import Group
from onechat_telegram.groups.domain.ids import key_of_line
from onechat_telegram.groups.domain.messages import Message
from onechat_telegram.groups.ports import AGENT_GONE, Adapter, Agents

log = logs.get("onechat_telegram.groups")


class Admin:
    """Runs the commands of administrators."""

    def __init__(
        self,
        adapter: Adapter,
        agents: Agents,
        store: Store,
        batching: Batching,
        lanes: Lanes,
        clock: Clock,
        zone: tzinfo,
    ) -> None:
        self._adapter = adapter
        self._agents = agents
        self._store = store
        self._batching = batching
        self._lanes = lanes
        self._clock = clock
        self._zone = zone

    async def run(self, command: AdminCommand, message: Message, group: Group) -> None:
        """Run `command`, which `message` holds, on `group`, and answer there where it was given."""
        if not await self._adapter.is_administrator(group.chat, message.sender.id):
            line = wording.REFUSED
        elif command is AdminCommand.STATUS:
            line = await self._status(group)
        elif command is AdminCommand.CLEAR:
            line = wording.CONFIRM
        elif command is AdminCommand.CONFIRM:
            await self._confirmed(message, group)
            return
        else:
            line = wording.PRIVATE_USAGE if message.private else wording.USAGE
        await self._adapter.reply(key_of_line(message.key), message.place, line)
        asks = line == wording.CONFIRM
        await self._store.write(lambda db: self._note(db, message, group, asks=asks))

    async def _status(self, group: Group) -> str:
        try:
            agent = await self._agents.look(group.agent)
        except RemoteError as error:
            if error.reason != AGENT_GONE:
                raise
            return wording.NO_AGENT
        return wording.status(
            agent.name,
            agent.messages,
            group.settings.detector,
            agent.last_turn,
            self._zone,
            self._adapter.limits,
        )

    async def _confirmed(self, message: Message, group: Group) -> None:
        """Clear if it was asked for a short while ago; whatever holds, this message is done with."""
        if not await self._store.write(lambda db: self._clear(db, message, group)):
            line = wording.NOTHING_TO_CONFIRM
            await self._adapter.reply(key_of_line(message.key), message.place, line)
            await self._store.write(lambda db: self._note(db, message, group))

    def _clear(self, db: apsw.Connection, message: Message, group: Group) -> bool:
        asked = rows.asked_to_confirm(db, group.chat, message.sender.id)
        if not confirms(asked, self._clock.now()):
            return False
        rows.forget_confirmations(db, group.chat)
        heard_rows.forget_lines(db, group.chat)
        self._batching.close(db, group)
        self._lanes.clear(db, message.key, group, message.place)
        self._note(db, message, group)
        log.info("memory_clearing", group=group.source)
        return True

    def _note(self, db: apsw.Connection, message: Message, group: Group, *, asks: bool = False) -> None:
        now = self._clock.now()
        heard_rows.note(db, message.key, message.place.chat, message.place.thread, "", now)
        if asks:
            rows.ask_confirmation(db, group.chat, message.sender.id, now)
