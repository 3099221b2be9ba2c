"""The agent service, seen from the gateway: hand over, store and fetch pictures, run commands and answers.

What it says: agent_events.py; the agents of groups: group_agents.py. Every call raises RemoteError.
Deadlines are seconds.
"""

import hashlib
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import Final

import grpc.aio
from google.protobuf.timestamp_pb2 import Timestamp
from onechat.agent.v1 import agent_service_pb2, agent_service_pb2_grpc, delivery_pb2, image_pb2
from onechat.common.v1.chunk_pb2 import Chunk
from onechat_runtime.errors import RemoteError

from onechat_telegram.adapters.agent_events import AgentEvents, state_of
from onechat_telegram.adapters.group_agents import GroupAgents
from onechat_telegram.domain.ids import DeliveryKey
from onechat_telegram.domain.updates import Written

DELIVER_S: Final = 10.0
COMMAND_S: Final = 30.0
IMAGE_S: Final = 60.0
_PIECE: Final = 65_536  # bytes of a chunk


class Agent:
    """The agent service behind a channel."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = agent_service_pb2_grpc.AgentServiceStub(channel)
        self.events = AgentEvents(self._stub)
        self.groups = GroupAgents(self._stub)

    async def deliver(
        self, key: DeliveryKey, written: Written, text: str, images: Sequence[str] = ()
    ) -> None:
        """Hand over a message of the owner; once this returns, the agent has it on its disk.

        `images` are names that `put_image` gave.

        A key that was handed over before, with whatever words, counts as done.
        """
        delivery = delivery_pb2.NewDelivery(
            key=key,
            source="user",
            kind=delivery_pb2.DELIVERY_KIND_USER,
            text=text,
            images=images,
            time=_timestamp(datetime.fromtimestamp(written.edit_date or written.date, UTC)),
            reply_to=delivery_pb2.ReplyTo(chat=str(written.chat), message=str(written.message)),
            backed=True,
        )
        try:
            await self._stub.Deliver(
                agent_service_pb2.DeliverRequest(deliveries=[delivery]), timeout=DELIVER_S
            )
        except RemoteError as error:
            if error.reason != "KEY_REUSED":  # it is there, in an earlier version's words
                raise

    async def put_image(self, content: bytes) -> str:
        """Store an image; the name by which a delivery names it. The same bytes always give the same name."""
        response = await self._stub.PutImage(_chunks(content), timeout=IMAGE_S)
        return str(response.name)

    async def run_command(self, line: str, key: DeliveryKey, given: datetime) -> str | None:
        """The answer to the command `line`, plain text; None when it is no command but a message."""
        request = agent_service_pb2.RunCommandRequest(line=line, request_id=key, time=_timestamp(given))
        try:
            response = await self._stub.RunCommand(request, timeout=COMMAND_S)
        except RemoteError as error:
            if error.reason == "NOT_A_COMMAND":
                return None
            raise
        return str(response.answer)

    async def answer_proposal(self, number: int, *, yes: bool, request_id: str) -> str | None:
        """Answer a proposal: its state then, in small letters; None for one that is not known.

        A proposal that has its answer keeps it.
        """
        request = agent_service_pb2.AnswerProposalRequest(number=number, yes=yes, request_id=request_id)
        try:
            response = await self._stub.AnswerProposal(request, timeout=COMMAND_S)
        except RemoteError as error:
            if error.reason == "PROPOSAL_UNKNOWN":
                return None
            raise
        return state_of(response.proposal)

    async def image(self, name: str) -> bytes | None:
        """The picture of that stored name; None where none is stored, or a damaged one.

        Bytes that came otherwise than they were stored count as none.
        """
        content, digest = bytearray(), b""
        try:
            call = self._stub.GetImage(image_pb2.GetImageRequest(name=name), timeout=IMAGE_S)
            async for answer in call:
                content += answer.chunk.content
                digest = answer.chunk.sha256 or digest
        except RemoteError as error:
            if error.reason == "IMAGE_UNKNOWN":
                return None
            raise
        return bytes(content) if digest == hashlib.sha256(content).digest() else None


async def _chunks(content: bytes) -> AsyncIterator[image_pb2.PutImageRequest]:
    """`content` in pieces, and at the end, apart, its checksum."""
    for start in range(0, len(content), _PIECE):
        yield image_pb2.PutImageRequest(chunk=Chunk(content=content[start : start + _PIECE]))
    yield image_pb2.PutImageRequest(chunk=Chunk(sha256=hashlib.sha256(content).digest()))


def _timestamp(instant: datetime) -> Timestamp:
    stamp = Timestamp()
    stamp.FromDatetime(instant)
    return stamp
