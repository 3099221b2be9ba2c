"""The command line /whatsapp: pair PHONE, status, unlink. Part of commands.py.

A phone number goes to the gateway and is kept nowhere here: not in the store, not in a log, not in an event.
"""

from typing import Protocol
from zoneinfo import ZoneInfo

from onechat_runtime.errors import BadRequestId, KeyReused, RemoteError, retriable

from onechat_agent import sentences, whatsapp_words
from onechat_agent.domain.whatsapp import LinkStatus, PairingCode, WhatsAppRefused
from onechat_agent.routes import Routes


class Link(Protocol):
    """The link to WhatsApp; its calls raise RemoteError, and WhatsAppRefused."""

    async def pair(self, phone: str, *, request_id: str) -> PairingCode:
        """A code for that phone number, one for the same `request_id`."""
        ...

    async def status(self) -> LinkStatus:
        """How the link is."""
        ...

    async def unlink(self, *, request_id: str) -> bool:
        """Ends the link, once for the same `request_id`; whether WhatsApp was told."""
        ...


class WhatsAppCommands:
    """Runs them."""

    def __init__(self, link: Link, routes: Routes, *, root: str, zone: ZoneInfo) -> None:
        """`root` is who gets what is not routed, `zone` the user's."""
        self._link = link
        self._routes = routes
        self._root = root
        self._zone = zone

    async def run(self, argument: str, request_id: str) -> str:
        """The answer to what follows `/whatsapp`; a pairing or an unlinking that comes twice is one.

        Raises KeyReused, BadRequestId.
        """
        word, rest = [*argument.split(maxsplit=1), "", ""][:2]
        try:
            match word.lower(), rest:
                case "pair", phone if phone:
                    code = await self._link.pair(phone, request_id=request_id)
                    return whatsapp_words.pairing(code, self._zone)
                case "status", "":
                    return await self._status()
                case "unlink", "":
                    told = await self._link.unlink(request_id=request_id)
                    return sentences.UNLINKED if told else sentences.UNLINKED_HERE
                case _:
                    return sentences.WHATSAPP_USAGE
        except WhatsAppRefused as refused:
            return str(refused)
        except RemoteError as error:
            return _failure(error)

    async def _status(self) -> str:
        """How the link is, and the routes, which are there whatever the link is."""
        routes = whatsapp_words.routes(self._routes.all(), self._root)
        try:
            link = whatsapp_words.status(await self._link.status(), self._zone)
        except WhatsAppRefused as refused:
            link = str(refused)
        except RemoteError as error:
            link = _failure(error)
        return f"{link}\n{routes}"


def _failure(error: RemoteError) -> str:
    """What people read of a call that failed. Raises what is the caller's own to mend."""
    if error.reason == KeyReused.reason:
        raise KeyReused from None
    if error.reason == BadRequestId.reason:
        raise BadRequestId from None
    return sentences.WHATSAPP_AWAY if retriable(error.code) else sentences.WHATSAPP_FAULT
