"""Telegram's side of group chats, put together in the order in which its rooms need one another.

The gateway builds it before its own rooms, which ask it, and opens it once those and the outbox are there.
"""

from datetime import tzinfo

import apsw
from onechat_runtime.clock import Clock
from onechat_runtime.health import HealthBoard
from onechat_runtime.outbox import Outbox, Sender
from onechat_runtime.steps import Reached
from onechat_runtime.store import Store

from onechat_telegram.adapters import piece_store
from onechat_telegram.adapters.bot_api import BotApi
from onechat_telegram.adapters.bot_groups import BotGroups
from onechat_telegram.domain.admissions import answered
from onechat_telegram.domain.bot_errors import BotApiError
from onechat_telegram.domain.ids import ChatId
from onechat_telegram.domain.outgoing import Spot
from onechat_telegram.groups import rows
from onechat_telegram.groups.admission import GroupUnknown
from onechat_telegram.groups.deliveries import DELIVERY, Deliveries
from onechat_telegram.groups.domain import ids
from onechat_telegram.groups.domain.group import GroupState
from onechat_telegram.groups.ports import Agents
from onechat_telegram.groups.wiring import GroupChats, opened_group_chats
from onechat_telegram.identity import Identity
from onechat_telegram.images import Images
from onechat_telegram.joining import Joining
from onechat_telegram.owner_chat import OwnerChat
from onechat_telegram.ownership import Ownership
from onechat_telegram.platform.adapter import TelegramGroups, place_of, spot_of
from onechat_telegram.platform.hearing import Hearing, passing
from onechat_telegram.replies import Replies

_REMARK = "groups"


class GroupSide:
    """What the gateway's rooms ask of group chats, and group chats of them."""

    def __init__(
        self,
        api: BotApi,
        agents: Agents,
        store: Store,
        ownership: Ownership,
        images: Images,
        board: HealthBoard,
        clock: Clock,
        reached: Reached,
    ) -> None:
        self._agents = agents
        self._store = store
        self._ownership = ownership
        self._board = board
        self._clock = clock
        self._reached = reached
        self._replies: Replies | None = None
        self._chats: GroupChats | None = None
        self.identity = Identity(api, store)
        bots = BotGroups(api)
        self.hearing = Hearing(store, bots, self.identity, ownership, Joining(store, clock), clock, reached)
        self.adapter = TelegramGroups(
            self.hearing, bots, store, self.identity, images, clock, lambda: self._answers.added.set()
        )

    @property
    def senders(self) -> dict[str, Sender]:
        """Of what goes to the agents of groups, for the outbox."""
        senders = Deliveries(self._agents, self.adapter).senders
        return {**senders, DELIVERY: self._after_following(senders[DELIVERY])}

    def open(self, outbox: Outbox, replies: Replies, zone: tzinfo) -> GroupChats:
        """Group chats, once the gateway's own rooms are there; `zone` is the user's."""
        self._replies = replies
        owner = OwnerChat(self._store, self._ownership, replies, self._clock)
        self._chats = opened_group_chats(
            self.adapter,
            self._agents,
            owner,
            self._store,
            outbox,
            clock=self._clock,
            zone=zone,
            changed=self._show_limits,
        )
        self.identity.changed = self._show_limits
        self.identity.open()
        self._show_limits()
        return self._chats

    def spot_now(self, db: apsw.Connection, key: str, spot: Spot, text: str) -> Spot | None:
        """Where a group's agent says `text` now; see Replies."""
        place = self._opened.replies.place_to_say(db, ids.MessageKey(key), place_of(spot), text)
        return None if place is None else spot_of(place)

    def moved(self, db: apsw.Connection, old: ChatId, new: ChatId) -> None:
        """A chat has another number: wherever it is named, in the caller's transaction."""
        rows.move(db, ids.ChatId(str(old)), ids.ChatId(str(new)))
        piece_store.move_chat(db, old, new)

    async def answer_group(self, chat: ChatId, *, yes: bool) -> str | None:
        """The owner's answer whether the group shall be served; what became of it. See Buttons."""
        try:
            group = await self._opened.admission.answer(ids.ChatId(str(chat)), yes=yes)
        except GroupUnknown:
            return None
        except BotApiError as error:
            raise passing(error) from None
        return answered(group.title, served=group.state is GroupState.ADMITTED)

    @property
    def _opened(self) -> GroupChats:
        assert self._chats is not None, "it is opened before anything runs"
        return self._chats

    @property
    def _answers(self) -> Replies:
        assert self._replies is not None, "it is opened before anything runs"
        return self._replies

    def _after_following(self, deliver: Sender) -> Sender:
        async def hand_over(key: str, body: bytes) -> bytes | None:
            # Else the answer could come before the place in the events is known, and be missed.
            await self._answers.followed()
            self._reached("group_handing_over")
            answer = await deliver(key, body)
            self._reached("group_handed_over")
            return answer

        return hand_over

    def _show_limits(self) -> None:
        """Say in health and status what the bot does not get, as long as that harms a served group."""
        served = any(group.state is GroupState.ADMITTED for group in self._store.read(rows.groups))
        self._board.remark(_REMARK, self.adapter.limits if served else "")
