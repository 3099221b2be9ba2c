"""The rooms of the link, put together: who hears the wire's events, and what runs in the background."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import tzinfo

from onechat_runtime.clock import Clock
from onechat_runtime.errors import StartRefused
from onechat_runtime.health import HealthBoard
from onechat_runtime.outbox import Outbox
from onechat_runtime.store import Store

from onechat_whatsapp.connecting import Connecting
from onechat_whatsapp.hearing import Hears
from onechat_whatsapp.link import Link
from onechat_whatsapp.link_servicer import LinkServicer
from onechat_whatsapp.notices import Notices
from onechat_whatsapp.pairing import Pairing
from onechat_whatsapp.silence import NameOf, Silence
from onechat_whatsapp.wire.ports import SessionUnreadable, WhatsAppWire


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRooms:
    """What there is of the link."""

    link: Link
    connecting: Connecting
    pairing: Pairing
    silence: Silence
    servicer: LinkServicer
    hears: tuple[Hears, ...]  #: in this order, before the rooms that read
    background: tuple[Callable[[], Awaitable[None]], ...]


async def opened_link(
    wire: WhatsAppWire,
    store: Store,
    outbox: Outbox,
    *,
    board: HealthBoard,
    clock: Clock,
    zone: tzinfo,
    name_of: NameOf,
    waiting: Callable[[], int],
    unlinked: Callable[[], None],
) -> LinkRooms:
    """The link as the last process left it, ready to run.

    `outbox` has the sender of notices.py. `name_of` tells what the user knows a chat by, `waiting` how many
    batches are not yet with the agent; `unlinked` is called once a link was ended here. `zone` is the user's.
    Raises StartRefused where nobody can tell whether there is a session.
    """
    notices = Notices(outbox, clock)
    link = Link(store, notices, board, clock, zone)
    await link.open(session=await _has_session(wire))
    connecting = Connecting(wire, link, store, clock, unlinked=unlinked)
    pairing = Pairing(wire, link, connecting, store, notices, clock)
    silence = Silence(store, link, notices, board, name_of, wire.me, clock, zone)
    silence.open()
    return LinkRooms(
        link=link,
        connecting=connecting,
        pairing=pairing,
        silence=silence,
        servicer=LinkServicer(store, link, connecting, pairing, silence, waiting, clock),
        hears=(pairing.hear, link.hear, silence.hear),  # what a pairing has linked, connects
        background=(link.run, connecting.run, pairing.run, silence.run),
    )


async def _has_session(wire: WhatsAppWire) -> bool:
    try:
        return await wire.is_linked()
    except SessionUnreadable as error:
        raise StartRefused(
            f"the WhatsApp session, whatsapp/session.db in the data folder, cannot be read ({error}): end "
            "what else uses it, or see to it that this user may read it, then start again"
        ) from error
