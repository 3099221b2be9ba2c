"""The agent service, seen from the gateway: hand over, run a command, follow what it says.

Every call raises RemoteError. Deadlines are seconds.
"""

import hashlib
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import Final

import grpc.aio
from google.protobuf.timestamp_pb2 import Timestamp
from onechat.agent.v1 import agent_service_pb2, agent_service_pb2_grpc, delivery_pb2, event_pb2, image_pb2
from onechat.common.v1.chunk_pb2 import Chunk
from onechat_runtime.channels import NO_DEADLINE
from onechat_runtime.errors import RemoteError

from onechat_telegram.domain.events import (
    AgentEvent,
    Asked,
    EventsMissed,
    NotShown,
    Opened,
    Said,
    TurnBegan,
    TurnOver,
)
from onechat_telegram.domain.ids import DeliveryKey
from onechat_telegram.domain.outgoing import EventPlace
from onechat_telegram.domain.updates import Written
from onechat_telegram.domain.wording import answered, asked

DELIVER_S: Final = 10.0
COMMAND_S: Final = 30.0
LIST_S: Final = 10.0
IMAGE_S: Final = 60.0
_PIECE: Final = 65_536  # bytes of a chunk
_CHANGE: Final = event_pb2.TurnChange


class Agent:
    """The agent service behind a channel."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = agent_service_pb2_grpc.AgentServiceStub(channel)

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

    async def follow(self, after: EventPlace | None) -> AsyncGenerator[AgentEvent, None]:
        """What happens after `after`, without end; from now on without it.

        The chat is with the root: what other agents reply goes to the agents above them, and is not shown.
        Raises EventsMissed when events after that place are not all kept.
        """
        request = agent_service_pb2.SubscribeRequest(audience="user")
        if after is not None:
            request.after, request.stream = after.number, after.stream
        try:
            # It waits for an agent service that is away, and is there as soon as that is.
            stream = self._stub.Subscribe(request, timeout=NO_DEADLINE, wait_for_ready=True)
            root = ""
            async for response in stream:
                root = root or await self._root()
                yield _event(response, root)
        except RemoteError as error:
            if error.reason != "EVENTS_GONE":
                raise
            oldest = int(error.metadata.get("oldest", "1"))
            place = EventPlace(stream=error.metadata.get("stream", ""), number=max(0, oldest - 1))
            raise EventsMissed(place) from None

    async def _root(self) -> str:
        """The root's id, which it keeps for ever."""
        request = agent_service_pb2.ListAgentsRequest(page_size=1)
        response = await self._stub.ListAgents(request, timeout=LIST_S)
        return str(response.agents[0].agent_id)


async def _chunks(content: bytes) -> AsyncIterator[image_pb2.PutImageRequest]:
    """`content` in pieces, and at the end, apart, its checksum."""
    for start in range(0, len(content), _PIECE):
        yield image_pb2.PutImageRequest(chunk=Chunk(content=content[start : start + _PIECE]))
    yield image_pb2.PutImageRequest(chunk=Chunk(sha256=hashlib.sha256(content).digest()))


def _event(response: agent_service_pb2.SubscribeResponse, root: str) -> AgentEvent:
    place = EventPlace(stream=response.stream, number=response.number)
    if response.HasField("ready"):
        return Opened(place=place)
    if not response.HasField("event"):
        return NotShown(place=place)
    event = response.event
    place = EventPlace(stream=response.stream, number=event.number)
    match event.WhichOneof("body"):
        case "proposal":
            return _proposal(place, event.proposal.proposal)
        case "notice" if event.agent_id != root:
            return Said(place=place, turn=event.turn, text=f"[{event.agent}] {event.notice.text}")
        case "reply" | "turn_change" if event.agent_id != root:
            return NotShown(place=place)
        case "reply":
            return Said(place=place, turn=event.turn, text=event.reply.text)
        case "notice":
            return Said(place=place, turn=event.turn, text=event.notice.text)
        case "turn_change" if event.turn_change.state in {_CHANGE.STATE_BEGUN, _CHANGE.STATE_RESUMED}:
            return TurnBegan(place=place, turn=event.turn)
        case "turn_change":
            failed = event.turn_change.state == _CHANGE.STATE_FAILED
            return TurnOver(place=place, turn=event.turn, failure=event.turn_change.reason if failed else "")
    return NotShown(place=place)


def _proposal(place: EventPlace, proposal: event_pb2.Proposal) -> AgentEvent:
    known = proposal.state in event_pb2.ProposalState.values()
    if not known or proposal.state == event_pb2.PROPOSAL_STATE_APPROVED:
        return NotShown(place=place)
    if proposal.state == event_pb2.PROPOSAL_STATE_OPEN:
        return Asked(place=place, text=asked(proposal.number, proposal.text))
    state = event_pb2.ProposalState.Name(proposal.state).removeprefix("PROPOSAL_STATE_").lower()
    return Asked(place=place, text=answered(proposal.number, proposal.agent, state, proposal.outcome))


def _timestamp(instant: datetime) -> Timestamp:
    stamp = Timestamp()
    stamp.FromDatetime(instant)
    return stamp
