"""The stage of the suite of group adapters over Telegram's own and the stand-in Bot API server.

Nothing but the adapter listens: what group chats make of it is not looked at there.
"""

import asyncio
import itertools
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from onechat_telegram.groups.domain.ids import ChatId, MemberId
from onechat_telegram.groups.ports import Adapter

from tests.fakes.agent_groups import GroupsAgentServicer
from tests.fakes.agent_servicer import agent_serving
from tests.fakes.bot_api import OWNER, BotApi, listening
from tests.fakes.group_stage import Stage
from tests.fakes.telegram_bench import Bench, Running

_ANN = 5550100  # the first of the members' numbers


class TelegramStage:
    """People on the stand-in Bot API server."""

    owner = "olga"
    adapter: Adapter

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._api = bench.api
        self._api.privacy = False
        self._people = {self.owner: OWNER}
        self._numbers = itertools.count(_ANN)
        self._gateway = AsyncExitStack()
        self._running: Running | None = None

    async def start(self) -> None:
        """Start the gateway on what the last one has left."""
        await self._gateway.enter_async_context(self._bench.time_flies())
        self._running = await self._gateway.enter_async_context(self._bench.running(but_groups=True))
        self.adapter = self._running.gateway.adapter
        await self._bench.agent.until(lambda: bool(self._bench.agent.subscribed))
        await self._api.until(lambda: bool(self._running and self._running.link.bot))

    async def end(self) -> None:
        """As if it were killed."""
        await self._gateway.aclose()

    async def group(self, title: str, *members: str, administrators: Sequence[str] = ()) -> ChatId:
        found = self._api.groups.found(title, [self._user(who) for who in members], forum=True)
        for who in administrators:
            self._api.groups.promote(found, self._user(who))
        self._api.updates.clear()  # of its founding nobody is told
        return ChatId(str(found))

    async def thread(self, chat: ChatId, title: str) -> str:
        return str(self._api.groups.open_topic(int(chat), title))

    async def says(
        self, chat: ChatId, who: str, text: str, *, thread: str = "", to_bot: bool = False
    ) -> None:
        user = self._user(who) if who else self._hidden(int(chat))
        self._api.say(
            text,
            user=user,
            chat=int(chat),
            thread=int(thread) if thread else None,
            reply_to=self._of_bot(chat)[-1]["message_id"] if to_bot else None,
        )

    async def whispers(self, who: str, text: str) -> ChatId:
        self._api.say(text, user=self._user(who))
        return ChatId(str(self._user(who)))

    async def adds_bot(self, chat: ChatId, who: str) -> None:
        self._api.groups.add_bot(int(chat), by=self._user(who))

    async def removes_bot(self, chat: ChatId) -> None:
        self._api.groups.remove_bot(int(chat))

    async def leaves(self, chat: ChatId, who: str) -> None:
        self._api.groups.leave(int(chat), self._user(who))

    async def moves(self, chat: ChatId) -> ChatId:
        group = self._api.directory.groups[int(chat)]
        group.type, group.is_forum = "group", False  # it was founded as what has topics; only these move
        return ChatId(str(self._api.groups.migrate(int(chat), join_first=False)))

    def member(self, who: str) -> MemberId:
        return MemberId(str(self._user(who)))

    async def shown(self, chat: ChatId, count: int) -> list[tuple[str, str]]:
        await self._api.until(lambda: len(self._of_bot(chat)) >= count)
        return [
            (each["text"], each.get("reply_to_message", {}).get("text", "")) for each in self._of_bot(chat)
        ]

    async def thread_of_last(self, chat: ChatId) -> str:
        return str(self._of_bot(chat)[-1].get("message_thread_id", ""))

    async def bot_inside(self, chat: ChatId) -> bool:
        return self._api.directory.groups[int(chat)].member(self._api.bot_id).inside

    async def starts_again(self) -> None:
        await self.end()
        self._gateway = AsyncExitStack()
        await self.start()

    def _user(self, who: str) -> int:
        if who not in self._people:
            self._people[who] = next(self._numbers)
        return self._api.directory.introduce(self._people[who], "Kim")

    def _hidden(self, chat: int) -> int:
        """An administrator who writes as the group from now on."""
        members = self._api.directory.groups[chat].members.values()
        who = next(each for each in members if each.status == "administrator")
        who.anonymous = True
        return who.user

    def _of_bot(self, chat: ChatId) -> list[dict[str, Any]]:
        return [each for each in self._api.sent if each["chat"]["id"] == int(chat)]


@asynccontextmanager
async def on_telegram() -> AsyncIterator[Stage]:
    """A stage on Telegram."""
    agent = GroupsAgentServicer()
    with await asyncio.to_thread(tempfile.TemporaryDirectory) as folder:
        async with listening(BotApi(username="robobot")) as api, agent_serving(agent) as loopback:
            stage = TelegramStage(Bench(Path(folder) / "telegram", api, agent, loopback.address))
            try:
                await stage.start()
                yield stage
            finally:
                await stage.end()
