"""Telegram as the adapter of group chats: groups/ports.Adapter.

What is heard: hearing.py. What is said goes into the pieces on disk, which sending.py sends. An answer of a
call that Telegram did not give raises BotApiError.
"""

import asyncio
from collections.abc import Callable
from typing import Final

from onechat_runtime.clock import Clock
from onechat_runtime.store import Store

from onechat_telegram.adapters import piece_store, place_store
from onechat_telegram.adapters.bot_groups import BotGroups
from onechat_telegram.adapters.markdown import render
from onechat_telegram.domain import ids as telegram
from onechat_telegram.domain.outgoing import Spot
from onechat_telegram.domain.pieces import pieces_of
from onechat_telegram.groups.domain.ids import ChatId, MemberId, MessageId, MessageKey, ThreadId
from onechat_telegram.groups.domain.messages import Bot, Message, Place
from onechat_telegram.groups.ports import Take
from onechat_telegram.identity import Identity
from onechat_telegram.images import Images, NotAPicture
from onechat_telegram.platform.hearing import Hearing
from onechat_telegram.platform.messages import picture_named, with_images

CHANNEL: Final = "telegram"
PRIVACY_MODE: Final = (
    "Telegram's privacy mode is on: in a group where the bot is no administrator, commands that name it and"
    " replies to it surely reach it, and most else does not. So it may miss its name, and learns nothing. To"
    " end that, send @BotFather /setprivacy, choose the bot and Disable, then remove the bot from the group"
    " and add it again."
)


class TelegramGroups:
    """Telegram's groups, and its private chats with their members."""

    channel = CHANNEL

    def __init__(
        self,
        hearing: Hearing,
        bots: BotGroups,
        store: Store,
        identity: Identity,
        images: Images,
        clock: Clock,
        said: Callable[[], None],
    ) -> None:
        """`said` is called when there is a piece to send."""
        self._hearing = hearing
        self._bots = bots
        self._store = store
        self._identity = identity
        self._images = images
        self._clock = clock
        self._said = said

    @property
    def bot(self) -> Bot:
        """The bot; without names before Telegram has ever told them, and then nothing is heard yet."""
        profile = self._identity.profile
        return Bot(id=MemberId(str(profile.bot)), handle=profile.user_name, name=profile.name)

    @property
    def limits(self) -> str:
        """That privacy mode is on, and what to do; empty where it is off."""
        return "" if self._identity.profile.hears_all else PRIVACY_MODE

    async def listen(self, take: Take) -> None:
        """Give `take` all that is heard, until cancelled."""
        await self._hearing.give_to(take)

    async def fetched(self, message: Message) -> Message:
        """`message` with its images in the agent's store; of those that cannot be read a line says so."""
        names: list[str] = []
        missing = 0
        for named in message.images:
            try:
                names.append(await self._images.stored(picture_named(named)))
            except NotAPicture:
                missing += 1
        return with_images(message, names, missing)

    async def reply(self, key: MessageKey, place: Place, text: str) -> None:
        """Say `text` at `place`; on disk once it returns, once for each key."""
        pieces = await asyncio.to_thread(pieces_of, text, render)  # a long one takes seconds
        spot, now = spot_of(place), self._clock.now()
        await self._store.write(
            lambda db: piece_store.add_answer(
                db, key, spot.chat, pieces, now, answers=spot.answers, topic=spot.topic
            )
        )
        self._said()

    async def is_administrator(self, chat: ChatId, member: MemberId) -> bool:
        """Whether `member` administers the group now; who writes as the group itself does."""
        number, who = telegram.ChatId(int(chat)), int(member)
        if who in {number, self._store.read(lambda db: place_store.was_before(db, number))}:
            return True
        return who in await self._bots.administrators(number)

    async def is_member(self, chat: ChatId, member: MemberId) -> bool:
        """Whether `member` is in the group now; not where it hides its members from the bot."""
        return await self._bots.is_inside(telegram.ChatId(int(chat)), int(member))

    async def leave(self, chat: ChatId) -> None:
        """Leave the group; no error when the bot is out of it already."""
        await self._bots.leave(telegram.ChatId(int(chat)))


def spot_of(place: Place) -> Spot:
    """`place` in Telegram's numbers."""
    return Spot(
        chat=telegram.ChatId(int(place.chat)),
        answers=telegram.MessageId(int(place.message)) if place.message else None,
        topic=int(place.thread) if place.thread else None,
    )


def place_of(spot: Spot) -> Place:
    """`spot` as group chats have it."""
    return Place(
        chat=ChatId(str(spot.chat)),
        message=MessageId("" if spot.answers is None else str(spot.answers)),
        thread=ThreadId("" if spot.topic is None else str(spot.topic)),
    )
