"""Sends a message once for each request id: noted as sending, sent, then what became of it is noted.

What was refused or could not leave for want of a connection has no record, so that its id can be tried again;
what may have left is never sent again. Messages of one chat leave in the order in which they were asked for.
Seconds. The records: domain/records.py; which chats there are: directory.py.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import apsw
from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.steps import Reached
from onechat_runtime.store import Store

from onechat_whatsapp.adapters import send_rows
from onechat_whatsapp.directory import Directory
from onechat_whatsapp.domain.pictures import fault_of, media_type
from onechat_whatsapp.domain.records import OutgoingMessage, SendRecord, SendState, digest_of, is_request_id
from onechat_whatsapp.domain.refusals import why_not_sent
from onechat_whatsapp.errors import (
    BadRequestId,
    ImageInvalid,
    MessageEmpty,
    NotConnected,
    SendUnknown,
)
from onechat_whatsapp.lanes import Lanes
from onechat_whatsapp.waiting import once_there_is_room
from onechat_whatsapp.wire.ports import NotSent, OutcomeUnknown, WhatsAppWire

SEND_S: Final = 105.0  # a little more than the wire gives itself
LAST_SEND_S: Final = 2.0  # for the answer to a send at work when the service ends
RECORD_AGAIN_S: Final = 2.0  # after which a record that the full disk refused is tried again

log = logs.get("onechat_whatsapp.sending")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a send is answered with."""

    record: SendRecord
    other_message: bool = False  #: the id was used before for another message, so this one was not sent


@dataclass(slots=True)
class _Wait:
    """Whether somebody still waits for a send."""

    over: bool = False


class Sending:
    """The one way out for messages."""

    def __init__(
        self,
        store: Store,
        wire: WhatsAppWire,
        directory: Directory,
        clock: Clock,
        reached: Reached,
        *,
        trouble: Callable[[], str] = lambda: "",
        send_s: float = SEND_S,
    ) -> None:
        """`trouble`: what is wrong with the link and what to do, a sentence, "" for nothing that is known;
        `send_s`: after which a send's outcome is not known."""
        self._store = store
        self._trouble = trouble
        self._send_s = send_s
        self._wire = wire
        self._directory = directory
        self._clock = clock
        self._reached = reached
        self._ids = Lanes()
        self._chats = Lanes()
        self._at_work: set[asyncio.Task[Answer]] = set()

    async def open(self) -> None:
        """Before anything is sent: what the last process was sending has an outcome that is not known."""
        if interrupted := await self._store.write(send_rows.give_up_interrupted):
            log.warning("sends_interrupted", sends=interrupted)

    async def run(self) -> None:
        """Until cancelled; then the sends at work get a little time to end."""
        try:
            await asyncio.Event().wait()
        finally:
            if self._at_work:
                await asyncio.wait(self._at_work, timeout=LAST_SEND_S)
            for task in self._at_work:
                task.cancel()
            await asyncio.gather(*self._at_work, return_exceptions=True)

    def record(self, request_id: str) -> SendRecord:
        """What is kept of the send with this id. Raises SendUnknown."""
        record = self._store.read(lambda db: send_rows.find(db, request_id))
        if record is None:
            raise SendUnknown
        return record

    async def send(self, request_id: str, message: OutgoingMessage, image_fault: str = "") -> Answer:
        """The answer that `request_id` got first. With a new id, send `message`: what became of it.

        `image_fault` says what is wrong with the image; such a message is not sent. Whoever asks may go away:
        a send that has begun goes on to its end, one that has not is not begun. Raises what a message is
        refused for, and then nothing was sent: BadRequestId, MessageEmpty, ImageInvalid, NotLinked,
        ChatUnknown, NotConnected, StoreFull.
        """
        if not is_request_id(request_id):
            raise BadRequestId
        wait = _Wait()
        task = asyncio.create_task(self._answer(request_id, message, image_fault, wait))
        self._at_work.add(task)
        task.add_done_callback(self._ended)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            wait.over = True
            raise

    def _ended(self, task: "asyncio.Task[Answer]") -> None:
        self._at_work.discard(task)
        if not task.cancelled():
            task.exception()  # who waits for it gets it; nobody may

    async def _answer(
        self, request_id: str, message: OutgoingMessage, image_fault: str, wait: _Wait
    ) -> Answer:
        async with self._ids.of(request_id):
            first = self._store.read(lambda db: send_rows.find(db, request_id))
            if first is not None:
                return Answer(record=first, other_message=not await self._same(first, message, image_fault))
            _refuse_unsendable(message, image_fault)
            await self._directory.own()
            if not await self._wire.is_online():
                raise self._not_connected()
            chat = await self._directory.address(message.chat)
            async with self._chats.of(chat):
                if wait.over:
                    raise asyncio.CancelledError
                return Answer(record=await self._sent(request_id, chat, message))

    async def _same(self, first: SendRecord, message: OutgoingMessage, image_fault: str) -> bool:
        """Whether `message` is the one that `first` is the record of."""
        if image_fault or first.digest != digest_of(message):
            return False
        return await self._directory.same_chat(first.chat, message.chat)

    async def _sent(self, request_id: str, chat: str, message: OutgoingMessage) -> SendRecord:
        noted = SendRecord(
            request_id=request_id,
            chat=message.chat,
            digest=digest_of(message),
            state=SendState.SENDING,
            message_id="",
            time=self._clock.now(),
        )
        await self._store.write(lambda db: send_rows.add(db, noted))
        self._reached("sending")
        try:
            async with asyncio.timeout(self._send_s):
                message_id = await self._put(chat, message)
            became = replace(noted, state=SendState.SENT, message_id=message_id)
        except NotSent as error:
            log.warning("not_sent", offline=error.offline)
            if error.offline:
                await self._kept(lambda db: send_rows.remove(db, request_id))
                raise self._not_connected() from error
            became = replace(noted, state=SendState.FAILED, failure=why_not_sent(str(error)))
        except (OutcomeUnknown, TimeoutError):
            log.warning("outcome_unknown")
            became = replace(noted, state=SendState.UNKNOWN)
        self._reached("sent")
        await self._kept(lambda db: send_rows.settle(db, became))
        self._reached("recorded")
        return became

    def _not_connected(self) -> NotConnected:
        trouble = self._trouble()
        return NotConnected(f"Nothing was sent. {trouble}" if trouble else None)

    async def _put(self, chat: str, message: OutgoingMessage) -> str:
        if message.image is None:
            return await self._wire.send_text(chat, message.text)
        return await self._wire.send_image(chat, message.image, media_type(message.image), message.text)

    async def _kept(self, job: Callable[[apsw.Connection], None]) -> None:
        """Write what must not be lost, however long the disk is full: the message may be in the chat."""
        await once_there_is_room(self._clock, lambda: self._store.write(job), RECORD_AGAIN_S)


def _refuse_unsendable(message: OutgoingMessage, image_fault: str) -> None:
    """Raise what is wrong with `message` itself."""
    if fault := image_fault or (fault_of(message.image) if message.image is not None else ""):
        raise ImageInvalid(fault)
    if message.is_empty:
        raise MessageEmpty
