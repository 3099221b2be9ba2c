"""A running gateway with groups, between the stand-in Bot API server and the agent service's double."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from onechat.agent.v1.delivery_pb2 import NewDelivery
from onechat_telegram.domain.admissions import YES
from onechat_telegram.groups.domain.group import Group
from onechat_telegram.groups.domain.ids import ChatId
from onechat_telegram.groups.domain.settings import GroupSettings

from tests.fakes.agent_groups import GroupsAgentServicer
from tests.fakes.bot_api import OWNER, BotApi
from tests.fakes.telegram_bench import Bench, Running

WITHIN_S = 20.0
LOOK_S = 0.005


@dataclass
class House:
    """What a test of groups on Telegram looks at."""

    bench: Bench
    running: Running
    api: BotApi
    agent: GroupsAgentServicer

    async def served(self, title: str, members: Sequence[int] = (), **how: Any) -> int:
        """A group that the owner has founded with the bot in it, and has said yes to; its number."""
        chat = self.api.groups.found(title, members, **how)
        await self.asked_of(title)
        self.press(title, YES)
        await self.until(lambda: self.state_of(chat) == "admitted")
        return chat

    async def asked_of(self, title: str) -> dict[str, Any]:
        """The message that asks the owner whether the group shall be served."""
        await self.api.until(lambda: bool(self._questions(title)), WITHIN_S)
        return self._questions(title)[-1]

    def press(self, title: str, button: str, *, user: int = OWNER) -> None:
        """`user` answers that question."""
        message = self._questions(title)[-1]
        self.api.callbacks.press(message["message_id"], button, user=user, chat=OWNER)

    def group(self, chat: int) -> Group | None:
        """The group as the gateway has it."""
        return self.running.gateway.groups.admission.group(ChatId(str(chat)))

    def state_of(self, chat: int) -> str:
        """Its state; empty for none."""
        group = self.group(chat)
        return "" if group is None else str(group.state)

    async def set(self, chat: int, settings: GroupSettings) -> None:
        """As the owner does."""
        await self.running.gateway.groups.admission.set(ChatId(str(chat)), settings)

    def delivered(self, title: str) -> list[NewDelivery]:
        """What the agent of the group of that title has got, in order."""
        agents = [agent.agent_id for agent in self.agent.groups.values() if agent.area == title]
        return [one for one in self.agent.deliveries.values() if one.to in agents]

    async def until_delivered(self, title: str, count: int) -> list[NewDelivery]:
        """The same, once there are so many."""
        await self.agent.until(lambda: len(self.delivered(title)) >= count, WITHIN_S)
        return self.delivered(title)

    async def until_said(self, chat: int, count: int = 1) -> list[dict[str, Any]]:
        """What the bot has said in `chat`, once that is so many messages."""
        await self.api.until(lambda: len(self._said(chat)) >= count, WITHIN_S)
        return self._said(chat)

    async def taken(self) -> None:
        """Return once nothing waits in the inbox, nor on its way to an agent, nor to Telegram's chats."""
        await self.until(lambda: not self.api.updates and self.running.gateway.outbox.waiting() == 0)
        await self.until(lambda: self._to_send() == 0)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Return once `condition` holds."""
        async with asyncio.timeout(WITHIN_S):
            while not condition():
                await asyncio.sleep(LOOK_S)

    def _to_send(self) -> int:
        sql = "SELECT count(*) FROM pieces WHERE state IN ('waiting', 'sending')"
        return int(self.running.store.read(lambda db: db.execute(sql).get))

    def _said(self, chat: int) -> list[dict[str, Any]]:
        return [message for message in self.api.sent if message["chat"]["id"] == chat]

    def _questions(self, title: str) -> list[dict[str, Any]]:
        return [
            message
            for message in self._said(OWNER)
            if f'"{title}"' in message["text"] and "reply_markup" in message
        ]


@asynccontextmanager
async def at_home(bench: Bench, agent: GroupsAgentServicer) -> AsyncIterator[House]:
    """A gateway on the bench's folder, once its owner's chat is open and its place in the events known."""
    bench.api.chats.add(OWNER)
    subscribed = len(agent.subscribed)
    async with bench.running() as running:
        await agent.until(lambda: len(agent.subscribed) > subscribed, WITHIN_S)
        yield House(bench, running, bench.api, agent)
