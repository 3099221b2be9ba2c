"""The memory service, as the agent uses it. Raises the runtime's RemoteError; deadlines in seconds.

Waiting a service out is the caller's (patience.py).
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, NewType

import grpc.aio
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from onechat.common.v1 import message_kind_pb2
from onechat.memory.v1 import (
    log_pb2,
    memory_service_pb2,
    memory_service_pb2_grpc,
    message_pb2,
    stats_pb2,
    upkeep_pb2,
)
from onechat_runtime.errors import RemoteError, StartRefused

from onechat_agent import sentences
from onechat_agent.adapters.memory_images import MemoryImages
from onechat_agent.domain.chat import AgentId, Kind, Line, Message, MessageId, NewMessage, View, Zoomed

READ_S: Final = 5.0
WRITE_S: Final = 10.0
SWAP_S: Final = 30.0
LIST_S: Final = 120.0
WAIT_MARGIN_S: Final = 10.0  # beside a wait that the service itself ends
APPEND_MAX: Final = 256  # messages of one call; the contract's
APPEND_BYTES: Final = 8 * 1024 * 1024  # of one call; half of what a channel carries

LeaseId = NewType("LeaseId", str)

_KINDS: Final = {
    Kind.USER: message_kind_pb2.MESSAGE_KIND_USER,
    Kind.REPLY: message_kind_pb2.MESSAGE_KIND_REPLY,
    Kind.TOOL: message_kind_pb2.MESSAGE_KIND_TOOL,
    Kind.ECHO: message_kind_pb2.MESSAGE_KIND_ECHO,
    Kind.WORK: message_kind_pb2.MESSAGE_KIND_WORK,
    Kind.NOTE: message_kind_pb2.MESSAGE_KIND_NOTE,
}
_KIND_OF: Final = {value: kind for kind, value in _KINDS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A node to be built."""

    lease: LeaseId
    first: MessageId
    count: int  #: messages that it stands for; 1 is a leaf
    source: str  #: `kind: text`, or the two lines `first+count|text`
    lines_seen: int  #: how many of the lease's view lines it sees


@dataclass(slots=True, kw_only=True)
class Asked:
    """What a piece has taken so far since it was leased."""

    calls: int = 0  #: that the model answered, be it with a refusal
    over_length: int = 0  #: answers of which no line was short enough


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """Work of one log."""

    log: AgentId
    generation: int
    view_lines: tuple[str, ...]  #: the compaction view, oldest first
    pieces: tuple[Piece, ...]  #: empty when nothing is ready


class MemoryClient:
    """Logs, views and compaction work of the memory service."""

    def __init__(self, channel: grpc.aio.Channel, zone: str) -> None:
        """`zone`: the IANA zone that appended messages carry."""
        self._stub = memory_service_pb2_grpc.MemoryServiceStub(channel)
        self._zone = zone
        self.images = MemoryImages(self._stub)

    async def create_log(self, log: AgentId, label: str, *, flat: bool = False) -> None:
        """Makes a live log with a tree, or a `flat` one; one that is there stays, also with an earlier label.

        Raises StartRefused where the log of that id is no such log: no waiting makes it one.
        """
        shape = log_pb2.LOG_SHAPE_FLAT if flat else log_pb2.LOG_SHAPE_TREE
        request = memory_service_pb2.CreateLogRequest(
            log_id=log, label=label, shape=shape, state=log_pb2.LOG_STATE_LIVE
        )
        try:
            await self._stub.CreateLog(request, timeout=WRITE_S)
        except RemoteError as error:
            if error.reason != "LOG_EXISTS":
                raise
            there = (await self._stats(log)).log
            if (there.shape, there.state) != (request.shape, request.state):
                raise StartRefused(sentences.LOG_OTHER.format(log=log, agent=label)) from None

    async def set_aside(self, log: AgentId, *, staged: AgentId, kept: AgentId, label: str) -> None:
        """Keeps the log, if there is one, as `kept`, and leaves an empty one with a tree in its place.

        `staged` and `kept` are new ids, the same whenever it is tried again.
        """
        request = upkeep_pb2.SwapLogRequest(
            log_id=log, staged_log_id=staged, kept_log_id=kept, request_id=f"aside:{kept}"
        )
        try:  # first of all, since it may be done: then the staged log's id is free, and not to be used again
            await self._stub.SwapLog(request, timeout=SWAP_S)
            return
        except RemoteError as error:
            if error.reason != "LOG_UNKNOWN":
                raise
        try:
            await self._stats(log)
        except RemoteError as error:
            if error.reason != "LOG_UNKNOWN":
                raise
            return
        await self._stub.CreateLog(
            memory_service_pb2.CreateLogRequest(
                log_id=staged, label=label, shape=log_pb2.LOG_SHAPE_TREE, state=log_pb2.LOG_STATE_STAGED
            ),
            timeout=WRITE_S,
        )
        await self._stub.SwapLog(request, timeout=SWAP_S)

    async def append(self, log: AgentId, messages: Sequence[NewMessage]) -> int:
        """Appends `messages` in order, known keys again as they were; gives the log's length."""
        length = 0
        for part in _calls_full([self._to_proto(message) for message in messages]):
            request = memory_service_pb2.AppendMessagesRequest(log_id=log, messages=part)
            length = (await self._stub.AppendMessages(request, timeout=WRITE_S)).length
        return length

    async def view(self, log: AgentId, wait_s: float) -> View:
        """The log's view, after a wait of up to `wait_s` for lines that are not built."""
        request = memory_service_pb2.GetViewRequest(log_id=log, wait=_duration(wait_s))
        answer = await self._stub.GetView(request, timeout=wait_s + WAIT_MARGIN_S)
        return View(text=answer.text, length=answer.length, whole=answer.whole, generation=answer.generation)

    async def zoom(self, log: AgentId, first: int, count: int, page: int | None) -> Zoomed:
        """What lies below a node, or a message whole; for count 0 a page of a flat log, or of a view."""
        request = memory_service_pb2.ZoomRequest(log_id=log, first_id=first, count=count, page_id=page)
        answer = await self._stub.Zoom(request, timeout=READ_S)
        return Zoomed(
            lines=tuple(
                Line(first=MessageId(line.first_id), count=line.count, text=line.text, built=line.built)
                for line in answer.lines
            ),
            messages=tuple(_message(message) for message in answer.messages),
            next_page=answer.next_page_id if answer.HasField("next_page_id") else None,
        )

    async def message_time(self, log: AgentId, message: int) -> tuple[datetime, str]:
        """The instant (UTC) and the zone stored with a message."""
        request = memory_service_pb2.GetMessageTimeRequest(log_id=log, id=message)
        answer = await self._stub.GetMessageTime(request, timeout=READ_S)
        return answer.time.ToDatetime(tzinfo=UTC), answer.zone

    async def messages(self, log: AgentId, start: int, end: int | None = None) -> AsyncIterator[Message]:
        """The log's messages from `start` on, oldest first; those before `end`, or all."""
        request = memory_service_pb2.ListMessagesRequest(log_id=log, start_id=start, end_id=end)
        async for answer in self._stub.ListMessages(request, timeout=LIST_S):
            for message in answer.messages:
                yield _message(message)

    async def length(self, log: AgentId) -> tuple[int, int]:
        """(how many messages the log holds, its generation)."""
        there = (await self._stats(log)).log
        return there.length, there.generation

    async def _stats(self, log: AgentId) -> stats_pb2.GetLogStatsResponse:
        request = stats_pb2.GetLogStatsRequest(log_id=log)
        answer: stats_pb2.GetLogStatsResponse = await self._stub.GetLogStats(request, timeout=READ_S)
        return answer

    async def lease(self, holder: str, pieces: int, wait_s: float) -> Lease:
        """Up to `pieces` nodes to be built, after a wait of up to `wait_s` when there are none."""
        request = memory_service_pb2.LeaseCompactionsRequest(
            holder=holder, max_pieces=pieces, wait=_duration(wait_s)
        )
        answer = await self._stub.LeaseCompactions(request, timeout=wait_s + WAIT_MARGIN_S)
        return Lease(
            log=AgentId(answer.log_id),
            generation=answer.generation,
            view_lines=tuple(answer.view_lines),
            pieces=tuple(
                Piece(
                    lease=LeaseId(piece.lease_id),
                    first=MessageId(piece.first_id),
                    count=piece.count,
                    source=piece.source,
                    lines_seen=piece.view_lines_seen,
                )
                for piece in answer.pieces
            ),
        )

    async def complete(self, lease: Lease, piece: Piece, line: str, builder: str, asked: Asked) -> None:
        """Gives a node its line. A node that has one already keeps it: RemoteError NODE_BUILT."""
        request = memory_service_pb2.CompleteCompactionRequest(
            log_id=lease.log,
            first_id=piece.first,
            count=piece.count,
            line=line,
            builder=builder,
            generation=lease.generation,
            calls=asked.calls,
            over_length_answers=asked.over_length,
        )
        await self._stub.CompleteCompaction(request, timeout=WRITE_S)

    async def fail(self, lease: Lease, piece: Piece, asked: Asked, *, content: bool) -> None:
        """Gives a piece back without a line: because of its content, or because no model can be had now."""
        causes = memory_service_pb2.FailCompactionRequest
        request = memory_service_pb2.FailCompactionRequest(
            log_id=lease.log,
            first_id=piece.first,
            count=piece.count,
            lease_id=piece.lease,
            cause=causes.CAUSE_CONTENT if content else causes.CAUSE_UNAVAILABLE,
            calls=asked.calls,
            over_length_answers=asked.over_length,
        )
        await self._stub.FailCompaction(request, timeout=WRITE_S)

    def _to_proto(self, message: NewMessage) -> message_pb2.NewMessage:
        time = Timestamp()
        time.FromDatetime(message.time)
        return message_pb2.NewMessage(
            key=message.key,
            kind=_KINDS[message.kind],
            text=message.text,
            time=time,
            zone=self._zone,
            source=message.source,
            turn=message.turn,
            step=message.step,
            call=message.call,
            images=message.images,
        )


def _calls_full(messages: Sequence[message_pb2.NewMessage]) -> list[list[message_pb2.NewMessage]]:
    """`messages` in order, in as few calls as can carry them."""
    calls: list[list[message_pb2.NewMessage]] = []
    size = 0
    for message in messages:
        added = message.ByteSize()
        if not calls or len(calls[-1]) == APPEND_MAX or size + added > APPEND_BYTES:
            calls.append([])
            size = 0
        calls[-1].append(message)
        size += added
    return calls


def _message(message: message_pb2.Message) -> Message:
    return Message(
        id=MessageId(message.id),
        key=message.key,
        kind=_KIND_OF[message.kind],
        text=message.text,
        time=message.time.ToDatetime(tzinfo=UTC),
        zone=message.zone,
        source=message.source,
        turn=message.turn,
        step=message.step,
        call=message.call,
        images=tuple(message.images),
        part=message.part,
        parts=message.parts,
    )


def _duration(seconds: float) -> Duration:
    duration = Duration()
    duration.FromTimedelta(timedelta(seconds=seconds))
    return duration
