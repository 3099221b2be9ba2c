"""The gateway with a bot: its rooms, wired, and what each does in the background."""

import random
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import tzinfo

from onechat_runtime.clock import Clock
from onechat_runtime.health import HealthBoard
from onechat_runtime.outbox import Outbox
from onechat_runtime.steps import Reached
from onechat_runtime.store import Store

from onechat_telegram.adapters.agent import Agent
from onechat_telegram.adapters.bot_api import BotApi
from onechat_telegram.adapters.bot_sends import BotSends
from onechat_telegram.buttons import Buttons
from onechat_telegram.drafts import Drafts
from onechat_telegram.groups.wiring import GroupChats
from onechat_telegram.handover import Handover
from onechat_telegram.images import Images
from onechat_telegram.inbox import Inbox
from onechat_telegram.joining import KIND
from onechat_telegram.link import Link
from onechat_telegram.ownership import Ownership
from onechat_telegram.platform.adapter import TelegramGroups
from onechat_telegram.platform.wiring import GroupSide
from onechat_telegram.putting import Putting
from onechat_telegram.replies import Replies
from onechat_telegram.sending import Sending
from onechat_telegram.typing_sign import TypingSign

_AGENT = "agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """What runs for one bot."""

    outbox: Outbox  #: the inbox's hand-overs, and those to the agents of groups
    groups: GroupChats
    adapter: TelegramGroups  #: what group chats know Telegram by
    background: tuple[Callable[[], Awaitable[None]], ...]


async def opened_gateway(
    api: BotApi,
    agent: Agent,
    store: Store,
    link: Link,
    ownership: Ownership,
    *,
    board: HealthBoard,
    clock: Clock,
    reached: Reached,
    zone: tzinfo,
    rng: random.Random | None = None,
    show_drafts: bool = False,
) -> Gateway:
    """The gateway of `api`'s bot, with what the last process left put in order; `zone` is the user's."""
    rng = rng or secrets.SystemRandom()
    await ownership.open()
    typing = TypingSign(api, link, ownership, clock)
    sends = BotSends(api)
    drafts = Drafts(sends, store, link, ownership, clock, on=show_drafts)
    drafts.open()
    images = Images(api, agent, link, clock, rng)
    side = GroupSide(api, agent.groups, store, ownership, images, board, clock, reached)
    replies = Replies(
        agent.events, store, ownership, typing, drafts, clock, rng, reached, spot_now=side.spot_now
    )
    handover = Handover(
        sends,
        agent,
        store,
        ownership,
        replies,
        images,
        clock,
        reached,
        buttons=Buttons(sends, agent, store, ownership, replies, clock, reached, groups=side),
        groups=side.hearing,
    )
    senders = {KIND: handover.hand_over, **side.senders}
    outbox = Outbox(store, clock, rng, senders, handover.settled, board=board)
    board.on_serving(_AGENT, outbox.wake)
    groups = side.open(outbox, replies, zone)
    inbox = Inbox(api, side.identity, store, outbox, link, ownership, clock, rng, reached)
    putting = Putting(sends, agent, store)
    sending = Sending(putting, store, replies, link, ownership, clock, rng, reached, moved=side.moved)
    await sending.open()
    background = (
        *(inbox.run, outbox.run, replies.run, *groups.background),
        *(sending.run, typing.run, drafts.run),
    )
    return Gateway(outbox=outbox, groups=groups, adapter=side.adapter, background=background)
