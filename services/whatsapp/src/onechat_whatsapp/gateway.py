"""The gateway: its rooms, wired, who hears what comes from WhatsApp, and what each does in the background."""

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import tzinfo

from onechat_runtime.clock import Clock
from onechat_runtime.health import HealthBoard
from onechat_runtime.outbox import Outbox
from onechat_runtime.steps import Reached, on_we_go
from onechat_runtime.store import Store

from onechat_whatsapp.adapters.agent import Agent
from onechat_whatsapp.batching import Batching
from onechat_whatsapp.catch_up import CatchUp
from onechat_whatsapp.chat_wiring import ChatRooms, opened_chats
from onechat_whatsapp.handover import Handover
from onechat_whatsapp.hearing import Hearing
from onechat_whatsapp.link_wiring import LinkRooms, opened_link
from onechat_whatsapp.notices import KIND, notice_sender
from onechat_whatsapp.reading import Reading
from onechat_whatsapp.servicer import WhatsAppServicer
from onechat_whatsapp.wire.ports import WhatsAppWire

_AGENT = "agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """What runs for one wire."""

    link: LinkRooms
    chats: ChatRooms
    outbox: Outbox  #: batches and notices on their way
    servicer: WhatsAppServicer
    background: tuple[Callable[[], Awaitable[None]], ...]


async def opened_gateway(
    wire: WhatsAppWire,
    agent: Agent,
    store: Store,
    *,
    board: HealthBoard,
    clock: Clock,
    zone: tzinfo,
    rng: random.Random,
    reached: Reached = on_we_go,
) -> Gateway:
    """The gateway with what the last process left put in order; `zone` is the user's."""
    handover = Handover(agent, store, clock, rng, reached)
    outbox = _opened_outbox(agent, store, handover, board, clock, rng)
    batching = Batching(store, handover, clock, zone, reached)
    chats = await opened_chats(
        wire,
        store,
        clock=clock,
        linked_since=lambda: rooms.link.now.linked_since,
        trouble=lambda: rooms.link.trouble,
        reached=reached,
    )
    reading = Reading(wire, chats.directory, batching, clock)
    rooms = await opened_link(
        wire,
        store,
        outbox,
        board=board,
        clock=clock,
        zone=zone,
        name_of=reading.called,
        waiting=handover.waiting,
        unlinked=lambda: _forget(catch_up, chats),
    )
    catch_up = CatchUp(batching, clock, linked=rooms.link.now.usable)
    hearing = Hearing(wire, (*rooms.hears, *chats.hears, catch_up.hear, reading.hear), board, clock)
    background = (batching.run, catch_up.run, outbox.run, *chats.background, *rooms.background, hearing.run)
    servicer = WhatsAppServicer(rooms.servicer, chats.servicer)
    return Gateway(link=rooms, chats=chats, outbox=outbox, servicer=servicer, background=background)


def _opened_outbox(
    agent: Agent, store: Store, handover: Handover, board: HealthBoard, clock: Clock, rng: random.Random
) -> Outbox:
    """What takes batches and notices to the agent service, at once when that has come back."""
    senders = {**handover.senders, KIND: notice_sender(agent)}
    outbox = Outbox(store, clock, rng, senders, handover.settled, board=board)
    handover.go_by(outbox)
    board.on_serving(_AGENT, outbox.wake)
    return outbox


def _forget(catch_up: CatchUp, chats: ChatRooms) -> None:
    catch_up.unlinked()
    chats.directory.forget()
