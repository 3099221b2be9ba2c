"""A chat platform that is none: groups with threads, members and administrators, and private chats.

It keeps what an adapter promises (services/telegram, groups/ports.py): what is heard comes in order and again
until it was taken, replies are said once for each key, in order, also by an adapter that comes after a crash.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime

from onechat_telegram.groups.domain.ids import ChatId, MemberId, MessageId, MessageKey, ThreadId
from onechat_telegram.groups.domain.messages import (
    Added,
    Bot,
    Command,
    Heard,
    Member,
    Mention,
    Message,
    Moved,
    Place,
    Quote,
    Removed,
)
from onechat_telegram.groups.ports import Take

Step = Callable[[], None]  # called at each effect outside the store, before and after it


class Tripped(Exception):
    """What a test's step raises: the caller does not learn whether the effect was had."""


def on_we_go() -> None:
    """A step that does nothing."""


class Trip:
    """Raises Tripped at one step, the `at`th from 0, once."""

    def __init__(self, at: int) -> None:
        self.left = at

    def __call__(self) -> None:
        self.left -= 1
        if self.left == -1:
            raise Tripped


BOT = Bot(id=MemberId("b0"), handle="robobot", name="Robo")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A message of the bot's as people see it."""

    place: Place  #: what it replies to
    text: str


@dataclass(slots=True)
class Room:
    """A group of the platform."""

    title: str
    members: dict[MemberId, Member] = field(default_factory=dict)
    administrators: set[MemberId] = field(default_factory=set)
    bot_inside: bool = True


class Platform:
    """The platform itself; it lives on while adapters come and go."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self.rooms: dict[ChatId, Room] = {}
        self.shown: list[Shown] = []
        self.said_keys: set[MessageKey] = set()
        self.not_taken: list[Heard] = []  #: in the order in which they came
        self.new = asyncio.Event()
        self.refused: list[Message] = []  #: private messages of whoever is in no group with the bot
        self._number = 0

    def room(
        self, chat: str, title: str, *members: str, administrators: Sequence[str] = (), name: str = ""
    ) -> ChatId:
        """Open a group with the bot in it, or change who is in it; all with the shown name `name`, if any."""
        those = {MemberId(who): Member(id=MemberId(who), name=name or who.capitalize()) for who in members}
        self.rooms[ChatId(chat)] = Room(title, those, set(map(MemberId, administrators)))
        return ChatId(chat)

    def add_bot(self, chat: ChatId, by: str, *, by_owner: bool) -> None:
        """Somebody puts the bot into a group."""
        self.rooms[chat].bot_inside = True
        who = Member(id=MemberId(by), name=by.capitalize())
        self._hear(Added(key=self._key(), chat=chat, title=self.rooms[chat].title, by=who, by_owner=by_owner))

    def remove_bot(self, chat: ChatId) -> None:
        """Somebody removes the bot from a group."""
        self.rooms[chat].bot_inside = False
        self._hear(Removed(chat=chat))

    def move(self, old: ChatId, new: str) -> ChatId:
        """Give a group another id."""
        self.rooms[ChatId(new)] = self.rooms.pop(old)
        self._hear(Moved(old=old, new=ChatId(new)))
        return ChatId(new)

    def say(
        self,
        chat: ChatId,
        who: str,
        text: str,
        *,
        thread: str = "",
        answers: str | None = None,
        images: tuple[str, ...] = (),
        code: tuple[tuple[int, int], ...] = (),
    ) -> Message:
        """`who` writes in a group: "@robobot" is a mention, "/" a command; `answers` names an author."""
        room = self.rooms[chat]
        sender = room.members.get(MemberId(who)) or Member(id=MemberId(chat), name=room.title)
        quote = None
        if answers is not None:
            author = BOT.id if answers == BOT.handle else MemberId(answers)
            quote = Quote(author=Member(id=author, name=answers.capitalize()), text="What was said.")
        message = self._message(chat, sender, text, title=room.title, thread=thread)
        message = replace(message, answers=quote, images=images, code=code)
        self._hear(message)
        return message

    def whisper(self, who: str, text: str) -> Message:
        """`who` writes to the bot in private."""
        member = Member(id=MemberId(who), name=who.capitalize())
        message = replace(self._message(ChatId(f"p-{who}"), member, text), private=True)
        self._hear(message)
        return message

    def texts(self, chat: str) -> list[str]:
        """What the bot has said in a chat."""
        return [each.text for each in self.shown if each.place.chat == chat]

    def _message(
        self, chat: ChatId, sender: Member, text: str, *, title: str = "", thread: str = ""
    ) -> Message:
        place = Place(chat=chat, message=MessageId(str(self._number + 1)), thread=ThreadId(thread))
        mentioned = [word[1:].strip(".,!?") for word in text.split() if word.startswith("@")]
        name, _, to = text.split(" ")[0][1:].partition("@")
        command = Command(name=name, to=to, rest=text.partition(" ")[2]) if text.startswith("/") else None
        return Message(
            key=self._key(),
            place=place,
            private=False,
            title=title,
            sender=sender,
            time=self._now(),
            text=text,
            mentions=tuple(Mention(handle=handle) for handle in mentioned),
            command=command,
            thread_title=thread,
        )

    def _key(self) -> MessageKey:
        self._number += 1
        return MessageKey(f"tavern:{self._number}")

    def _hear(self, heard: Heard) -> None:
        self.not_taken.append(heard)
        self.new.set()


class PlatformAdapter:
    """An adapter of that platform; a new one stands for a process that was started again."""

    channel = "tavern"
    bot = BOT
    limits = ""

    def __init__(self, platform: Platform, step: Step = on_we_go) -> None:
        self._platform = platform
        self._step = step

    async def listen(self, take: Take) -> None:
        while True:
            self._platform.new.clear()
            while self._platform.not_taken:
                with suppress(Tripped):
                    await self.hear_next(take)
            await self._platform.new.wait()

    async def hear_next(self, take: Take) -> None:
        """Give `take` what came first and is not taken yet; it stays when `take` raises."""
        heard = self._platform.not_taken[0]
        if not await take(heard) and isinstance(heard, Message):
            self._platform.refused.append(heard)
        self._platform.not_taken.pop(0)

    async def fetched(self, message: Message) -> Message:
        self._step()
        return message

    async def reply(self, key: MessageKey, place: Place, text: str) -> None:
        self._step()
        if key not in self._platform.said_keys:
            self._platform.said_keys.add(key)
            self._platform.shown.append(Shown(place=place, text=text))
        self._step()

    async def is_administrator(self, chat: ChatId, member: MemberId) -> bool:
        self._step()
        room = self._platform.rooms[chat]
        return member == chat or (member in room.administrators and member in room.members)

    async def is_member(self, chat: ChatId, member: MemberId) -> bool:
        self._step()
        return member in self._platform.rooms[chat].members

    async def leave(self, chat: ChatId) -> None:
        self._step()
        self._platform.rooms[chat].bot_inside = False
