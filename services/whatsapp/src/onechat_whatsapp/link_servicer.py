"""The calls of onechat.whatsapp.v1.WhatsAppService that are about the link: Pair, GetStatus, Unlink."""

from collections.abc import Callable
from typing import Any

import apsw
from onechat.whatsapp.v1 import whatsapp_service_pb2 as v1
from onechat_runtime.clock import Clock
from onechat_runtime.request_ids import OnceHere, answered, call_body, once
from onechat_runtime.store import Store

from onechat_whatsapp.connecting import Connecting
from onechat_whatsapp.link import Link
from onechat_whatsapp.pairing import Pairing
from onechat_whatsapp.silence import Silence


class LinkServicer:
    """Answers from what the link's rooms know. A part of WhatsAppServicer."""

    def __init__(
        self,
        store: Store,
        link: Link,
        connecting: Connecting,
        pairing: Pairing,
        silence: Silence,
        waiting: Callable[[], int],
        clock: Clock,
    ) -> None:
        """`waiting` tells how many batches are not yet with the agent."""
        self._store = store
        self._link = link
        self._connecting = connecting
        self._pairing = pairing
        self._silence = silence
        self._waiting = waiting
        self._clock = clock
        self._codes = OnceHere(clock)  # a code ends with the process that asked for it

    async def Pair(self, request: v1.PairRequest, context: Any) -> v1.PairResponse:
        async def ask() -> bytes:
            given = await self._pairing.pair(request.phone)
            response = v1.PairResponse(code=given.code, expire_time=given.expires)
            return response.SerializeToString()

        # From here on the caller's channel does not try again by itself: WhatsApp counts who asks for codes.
        await context.send_initial_metadata(())
        body = call_body("Pair", request)
        answer = await self._codes.once(request_id=request.request_id, body=body, answer=ask)
        return v1.PairResponse.FromString(answer)

    async def GetStatus(self, request: v1.GetStatusRequest, context: Any) -> v1.GetStatusResponse:
        now = self._link.now
        troubles = [each for each in (self._link.trouble, self._silence.trouble) if each]
        return v1.GetStatusResponse(
            link=f"LINK_STATE_{now.state.upper()}",
            change_time=now.since,
            last_connect_time=now.last_connect,
            last_disconnect_time=now.last_disconnect,
            batches=self._waiting(),
            undecryptable=self._silence.undecryptable(),
            ban_end_time=now.ban_end,
            trouble=" ".join(troubles),
            last_event_time=self._silence.last_event,
        )

    async def Unlink(self, request: v1.UnlinkRequest, context: Any) -> v1.UnlinkResponse:
        body = call_body("Unlink", request)

        def first(db: apsw.Connection) -> bytes | None:
            return answered(db, request_id=request.request_id, body=body, now=self._clock.now())

        def keep(db: apsw.Connection, told: bool) -> None:
            response = v1.UnlinkResponse(told=told).SerializeToString()
            now = self._clock.now()
            once(db, request_id=request.request_id, body=body, now=now, answer=lambda: response)

        if (known := self._store.read(first)) is not None:
            return v1.UnlinkResponse.FromString(known)
        await self._pairing.give_up()
        return v1.UnlinkResponse(told=await self._connecting.unlink(keep))
