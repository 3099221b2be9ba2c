"""What comes from Telegram for the groups, taken to them in order: messages, and what befalls a group.

An update waits in the inbox until it was taken (handover.py) and is given again after a kill or a failure,
with the same key. Those of one group come one after the other; that a basic group is a supergroup now comes
before all else of the new chat, however Telegram orders it.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

import apsw
import grpc
from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.errors import RemoteError
from onechat_runtime.steps import Reached
from onechat_runtime.store import Store

from onechat_telegram.adapters import place_store
from onechat_telegram.adapters.bot_groups import BotGroups
from onechat_telegram.domain.bot_errors import BotApiError, ChatClosed, Refused, TooManyCalls
from onechat_telegram.domain.ids import ChatId
from onechat_telegram.domain.updates import lane_of, lane_of_group
from onechat_telegram.groups.domain import ids
from onechat_telegram.groups.domain.messages import Added, Heard, Moved, Removed
from onechat_telegram.groups.ports import Take
from onechat_telegram.identity import Identity
from onechat_telegram.joining import WAIT, Joining, updates_in
from onechat_telegram.ownership import Ownership
from onechat_telegram.platform.events import (
    BecameSupergroup,
    BotGone,
    BotJoined,
    NothingHeard,
    Words,
    basic_group_of,
    key_of_joining,
    place_in_forum,
    read_event,
    topic_of,
    who_joined,
)
from onechat_telegram.platform.messages import message_of

log = logs.get("onechat_telegram.groups")


class Hearing:
    """Takes updates to whoever listens."""

    def __init__(
        self,
        store: Store,
        bots: BotGroups,
        identity: Identity,
        ownership: Ownership,
        joining: Joining,
        clock: Clock,
        reached: Reached,
    ) -> None:
        """`joining` finds what belongs to an update."""
        self._store = store
        self._bots = bots
        self._identity = identity
        self._ownership = ownership
        self._joining = joining
        self._clock = clock
        self._reached = reached
        self._take: Take | None = None
        self._listening = asyncio.Event()
        self._moving = asyncio.Lock()
        self._at_work: set[asyncio.Future[bool]] = set()

    async def give_to(self, take: Take) -> None:
        """Give `take` all that comes, until cancelled; what it has not taken then waits for the next."""
        self._take = take
        self._listening.set()
        try:
            await asyncio.Event().wait()
        finally:
            self._listening.clear()
            self._take = None
            for work in self._at_work:
                work.cancel()

    async def take(self, key: str, update: Mapping[str, Any]) -> bool:
        """Take an update, the inbox's `key`: False for a private message of nobody's member.

        Raises what makes the hand-over be tried again: RemoteError for what will pass by itself.
        """
        await self._identity.wait_known()
        try:
            return await self._taken(key, update)
        except BotApiError as error:
            raise passing(error) from None

    async def _taken(self, key: str, update: Mapping[str, Any]) -> bool:
        await self._note_topic(update)
        match read_event(update):
            case Words():
                await self._note_basic_group(update)
                return await self._words(key, update)
            case BotJoined() as joined:
                await self._note_basic_group(update)
                if basic_group_of(update) is not None or not await self._is_of_a_move(joined.chat):
                    await self._joined(joined)
            case BotGone(chat=chat):
                await self._gone(chat)
            case BecameSupergroup(old=old, new=new):
                await self._moved(old, new)
            case NothingHeard():
                pass
        return True

    async def _words(self, key: str, update: Mapping[str, Any]) -> bool:
        lane = lane_of(update, self._ownership.owner)
        parts = await self._joining.whole(key, update, lane)
        self._reached("joined")
        topic = self._topic(update)
        return await self._give(message_of(self._identity.bot, [part.update for part in parts], topic))

    async def _joined(self, joined: BotJoined) -> None:
        """The bot is in a group in which it was under no other number."""
        try:
            await self._identity.learn()
        except BotApiError as error:
            log.info("profile_not_learned", error=type(error).__name__)  # what is known will do
        owner = self._ownership.owner
        await self._give(
            Added(
                key=key_of_joining(self._identity.bot, joined),
                chat=ids.ChatId(str(joined.chat)),
                title=joined.title,
                by=who_joined(joined),
                by_owner=owner is not None and joined.by == owner,
            )
        )

    async def _is_of_a_move(self, chat: ChatId) -> bool:
        """Whether the bot is in `chat` since a group of its own became that; the move is told then."""
        async with self._moving:
            if self._store.read(lambda db: place_store.join_due(db, chat)):
                await self._store.write(lambda db: place_store.joined(db, chat))
                return True
            old = await self._old_number_of(chat)
            if old is not None:
                await self._tell_move(old, chat, join_due=False)
            return old is not None

    async def _old_number_of(self, chat: ChatId) -> ChatId | None:
        """The basic group that `chat` was, where that has still to be told: the join may be told first.

        Telegram knows it by then, and the chat's own word of it is there or comes at once.
        """
        basics = self._store.read(place_store.basic_groups)
        if not basics:
            return None
        if (old := self._told_by(chat)) is not None:
            return old
        for basic in basics:
            if await self._bots.supergroup_of(basic) == chat:
                return basic
        await self._clock.sleep(WAIT.total_seconds())
        return self._told_by(chat)

    def _told_by(self, chat: ChatId) -> ChatId | None:
        """The basic group that `chat` was, by an update of it that waits."""
        waiting = self._store.read(lambda db: updates_in(db, lane_of_group(chat)))
        events = [read_event(update) for _, update in waiting if "message" in update]
        return next((event.old for event in events if isinstance(event, BecameSupergroup)), None)

    async def _gone(self, chat: ChatId) -> None:
        await self._give(Removed(chat=ids.ChatId(str(chat))))

        def forget(db: apsw.Connection) -> None:
            place_store.joined(db, chat)
            place_store.forget_basic_group(db, chat)

        await self._store.write(forget)

    async def _moved(self, old: ChatId, new: ChatId) -> None:
        """A basic group is a supergroup now; both chats tell of it, perhaps at once."""
        async with self._moving:
            await self._tell_move(old, new, join_due=True)

    async def _tell_move(self, old: ChatId, new: ChatId, *, join_due: bool) -> None:
        """Give it on, once."""
        if self._store.read(lambda db: place_store.was_before(db, new)) != old:
            await self._give(Moved(old=ids.ChatId(str(old)), new=ids.ChatId(str(new))))
            await self._store.write(lambda db: place_store.upgrade(db, old, new, join_due=join_due))

    async def _note_basic_group(self, update: Mapping[str, Any]) -> None:
        """Know the basic groups that the bot is in, to ask after them when it is in a new supergroup."""
        chat = basic_group_of(update)
        if chat is None or self._store.read(lambda db: place_store.is_basic_group(db, chat)):
            return
        await self._store.write(lambda db: place_store.add_basic_group(db, chat))

    async def _note_topic(self, update: Mapping[str, Any]) -> None:
        """Know what topics are called: only some of their messages tell."""
        topic = topic_of(update)
        if topic is None:
            return
        chat, thread, name = topic
        if name != self._store.read(lambda db: place_store.topic_name(db, chat, thread)):
            await self._store.write(lambda db: place_store.name_topic(db, chat, thread, name))

    def _topic(self, update: Mapping[str, Any]) -> str:
        """The name of the topic that the message in `update` is in; empty where it is in none."""
        place = place_in_forum(update)
        if place is None:
            return ""
        chat, thread = place
        return self._store.read(lambda db: place_store.topic_name(db, chat, thread))

    async def _give(self, heard: Heard) -> bool:
        """Have it taken by whoever listens, or by the next who does; whether it was."""
        self._reached("hearing")
        while True:
            await self._listening.wait()
            take = self._take
            assert take is not None, "somebody listens"
            work = asyncio.ensure_future(take(heard))
            self._at_work.add(work)
            try:
                taken = await work
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if task is not None and task.cancelling():
                    raise
                continue  # it was the listener who ended
            finally:
                self._at_work.discard(work)
            self._reached("heard")
            return taken


def passing(error: BotApiError) -> Exception:
    """`error` as what an outbox tries again for ever, unless Telegram will always refuse."""
    if isinstance(error, (Refused, ChatClosed)):
        return error
    retry_after_s = error.retry_after_s if isinstance(error, TooManyCalls) else None
    return RemoteError(
        grpc.StatusCode.UNAVAILABLE, type(error).__name__, reason="TELEGRAM_AWAY", retry_after_s=retry_after_s
    )
