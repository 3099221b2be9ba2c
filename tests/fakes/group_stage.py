"""What the suite of group adapters asks of a platform: people who write, and what they see. See Stage.

The made-up platform's stage is here; one over a real platform's stand-in server keeps the same promises.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

from onechat_telegram.groups.domain.ids import ChatId, MemberId
from onechat_telegram.groups.domain.messages import Heard
from onechat_telegram.groups.ports import Adapter

from tests.fakes.clock import ManualClock
from tests.fakes.group_platform import BOT, Platform, PlatformAdapter

WITHIN_S = 20.0


class Stage(Protocol):
    """A platform with people on it. People are called by short names, all with the same shown name "Kim".

    The bot's handle there is "robobot". `owner` is the owner's name here.
    """

    adapter: Adapter
    owner: str

    async def group(self, title: str, *members: str, administrators: Sequence[str] = ()) -> ChatId:
        """A group with the bot in it, which nobody is told of."""

    async def thread(self, chat: ChatId, title: str) -> str:
        """A new thread of the group; for `says`."""

    async def says(
        self, chat: ChatId, who: str, text: str, *, thread: str = "", to_bot: bool = False
    ) -> None:
        """`who` writes; with `to_bot` in reply to the bot's last message there. "" is the group itself."""

    async def whispers(self, who: str, text: str) -> ChatId:
        """`who` writes to the bot in private; the private chat."""

    async def adds_bot(self, chat: ChatId, who: str) -> None:
        """`who` puts the bot into the group, in which it is not."""

    async def removes_bot(self, chat: ChatId) -> None:
        """Somebody removes the bot."""

    async def leaves(self, chat: ChatId, who: str) -> None:
        """`who` is no longer in the group."""

    async def moves(self, chat: ChatId) -> ChatId:
        """The platform gives the group another id. Raises NotImplementedError where that cannot be."""

    def member(self, who: str) -> MemberId:
        """The id of `who` on the platform."""

    async def shown(self, chat: ChatId, count: int) -> list[tuple[str, str]]:
        """The bot's messages in the chat, at least `count`: each text, and the text that it replies to."""

    async def thread_of_last(self, chat: ChatId) -> str:
        """The thread of the bot's last message, as `thread` gave it; "" for none."""

    async def bot_inside(self, chat: ChatId) -> bool:
        """Whether the bot is in the group."""

    async def starts_again(self) -> None:
        """The gateway is killed and started again; `adapter` is another one."""


async def heard(
    stage: Stage, count: int, *, take: Callable[[Heard], Awaitable[bool]] | None = None
) -> list[Heard]:
    """The first `count` things that the stage's adapter hears, each taken by `take` too.

    Raises what ended the adapter.
    """
    those: list[Heard] = []
    enough = asyncio.Event()

    async def keep(one: Heard) -> bool:
        taken = True if take is None else await take(one)
        those.append(one)
        if len(those) >= count:
            enough.set()
        return taken

    listening = asyncio.ensure_future(stage.adapter.listen(keep))
    waiting = asyncio.ensure_future(enough.wait())
    try:
        async with asyncio.timeout(WITHIN_S):
            await asyncio.wait([listening, waiting], return_when=asyncio.FIRST_COMPLETED)
    finally:
        ended = listening if listening.done() else None
        listening.cancel()
        waiting.cancel()
        await asyncio.gather(listening, waiting, return_exceptions=True)
    if ended is not None:
        ended.result()
    return those


class MadeUpStage:
    """The stage of the made-up platform."""

    owner = "olga"

    def __init__(self) -> None:
        self._platform = Platform(ManualClock().now)
        self._texts: dict[tuple[str, str], str] = {}
        self.adapter: Adapter = PlatformAdapter(self._platform)

    async def group(self, title: str, *members: str, administrators: Sequence[str] = ()) -> ChatId:
        return self._platform.room(title.lower(), title, *members, administrators=administrators, name="Kim")

    async def thread(self, chat: ChatId, title: str) -> str:
        return title

    async def says(
        self, chat: ChatId, who: str, text: str, *, thread: str = "", to_bot: bool = False
    ) -> None:
        answers = BOT.handle if to_bot else None
        message = self._platform.say(chat, who, text, thread=thread, answers=answers)
        self._texts[chat, message.place.message] = text

    async def whispers(self, who: str, text: str) -> ChatId:
        message = self._platform.whisper(who, text)
        self._texts[message.place.chat, message.place.message] = text
        return message.place.chat

    async def adds_bot(self, chat: ChatId, who: str) -> None:
        self._platform.add_bot(chat, who, by_owner=who == self.owner)

    async def removes_bot(self, chat: ChatId) -> None:
        self._platform.remove_bot(chat)

    async def leaves(self, chat: ChatId, who: str) -> None:
        del self._platform.rooms[chat].members[MemberId(who)]

    async def moves(self, chat: ChatId) -> ChatId:
        return self._platform.move(chat, f"{chat}-2")

    def member(self, who: str) -> MemberId:
        return MemberId(who)

    async def shown(self, chat: ChatId, count: int) -> list[tuple[str, str]]:
        those = [each for each in self._platform.shown if each.place.chat == chat]
        assert len(those) >= count
        return [(each.text, self._texts.get((chat, each.place.message), "")) for each in those]

    async def thread_of_last(self, chat: ChatId) -> str:
        return [each.place.thread for each in self._platform.shown if each.place.chat == chat][-1]

    async def bot_inside(self, chat: ChatId) -> bool:
        return self._platform.rooms[chat].bot_inside

    async def starts_again(self) -> None:
        self.adapter = PlatformAdapter(self._platform)


@asynccontextmanager
async def made_up() -> AsyncIterator[Stage]:
    """A stage of the made-up platform."""
    yield MadeUpStage()
