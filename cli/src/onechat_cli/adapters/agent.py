"""The agent service, as its clients use it. Calls raise RemoteError; times are seconds.

What the stream brings: adapters/agent_events.py turns it into domain/happening.py.
"""

import hashlib
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Final, cast

from google.protobuf.timestamp_pb2 import Timestamp
from onechat.agent.v1 import (
    agent_service_pb2,
    agent_service_pb2_grpc,
    delivery_pb2,
    event_pb2,
    image_pb2,
    usage_pb2,
)
from onechat.common.v1.chunk_pb2 import Chunk
from onechat_runtime.channels import NO_DEADLINE, open_channel

from onechat_cli.adapters.agent_events import heard_from_proto, proposed_from_proto
from onechat_cli.domain.happening import Heard, Place, Proposed
from onechat_cli.domain.safe_text import sendable
from onechat_cli.domain.spent import Spent
from onechat_cli.domain.typed import Typed

_DELIVER_S: Final = 10.0
_READ_S: Final = 5.0
_IMAGE_S: Final = 60.0
_COMMAND_S: Final = 30.0


class AgentClient:
    """Calls of one channel to the agent service."""

    def __init__(self, stub: "agent_service_pb2_grpc.AgentServiceAsyncStub") -> None:
        self._stub = stub

    @classmethod
    @asynccontextmanager
    async def connect(cls, address: str, token: str) -> AsyncIterator["AgentClient"]:
        """A client; the service need not be there."""
        async with open_channel(address, token=token, name="agent") as channel:
            stub = agent_service_pb2_grpc.AgentServiceStub(channel)
            yield cls(cast("agent_service_pb2_grpc.AgentServiceAsyncStub", stub))

    async def deliver(self, typed: Typed) -> None:
        """Hand `typed` to the root; it is on disk when this returns."""
        delivery = delivery_pb2.NewDelivery(
            key=typed.key,
            to="root",
            source="user",
            kind=delivery_pb2.DELIVERY_KIND_USER,
            text=sendable(typed.text),
            time=_instant(typed.time),
            wakes_root=True,
            backed=True,
            images=typed.images,
        )
        request = agent_service_pb2.DeliverRequest(deliveries=[delivery])
        await self._stub.Deliver(request, timeout=_DELIVER_S)

    async def put_image(self, pieces: AsyncIterable[bytes]) -> str:
        """Store the image that `pieces` make, each of up to 64 KiB; the name by which a message names it."""
        answer = await self._stub.PutImage(_chunks(pieces), timeout=_IMAGE_S)
        name: str = answer.name
        return name

    async def image(self, name: str) -> bytes:
        """The stored image of this name, whole."""
        call = self._stub.GetImage(image_pb2.GetImageRequest(name=name), timeout=_IMAGE_S)
        return b"".join([answer.chunk.content async for answer in call])

    async def hear(self, place: Place | None, *, last: int = 0) -> AsyncGenerator[Heard, None]:
        """The stream of what happens, from after `place`; without one from the newest `last` kept events."""
        request = agent_service_pb2.SubscribeRequest(last=0 if place else last)
        if place is not None:
            request.after = place.number
            request.stream = place.stream
        call = self._stub.Subscribe(request, timeout=NO_DEADLINE)
        try:
            async for response in call:
                heard = heard_from_proto(response)
                if heard is not None:
                    yield heard
        finally:
            call.cancel()  # whoever has heard enough leaves no stream behind

    async def root(self) -> tuple[str, str]:
        """The root's id and name, which the agent service knows without any other service."""
        listed = await self._stub.ListAgents(
            agent_service_pb2.ListAgentsRequest(page_size=1_000), timeout=_READ_S
        )
        root = next(one for one in listed.agents if one.role == agent_service_pb2.AGENT_ROLE_ROOT)
        return root.agent_id, root.name

    async def ids(self) -> list[tuple[str, str]]:
        """The id and the name of each agent; an agent's id is its log's."""
        found: list[tuple[str, str]] = []
        request = agent_service_pb2.ListAgentsRequest(page_size=1_000)
        while True:
            page = await self._stub.ListAgents(request, timeout=_READ_S)
            found += [(one.agent_id, one.name) for one in page.agents]
            if not page.next_page_token:
                return found
            request.page_token = page.next_page_token

    async def routes(self) -> list[tuple[str, str]]:
        """Every route, by source: (source, the name of the child that gets what comes from it)."""
        found: list[tuple[str, str]] = []
        request = agent_service_pb2.ListRoutesRequest(page_size=1_000)
        while True:
            page = await self._stub.ListRoutes(request, timeout=_READ_S)
            found += [(one.source, one.agent) for one in page.routes]
            if not page.next_page_token:
                return found
            request.page_token = page.next_page_token

    async def command(self, line: str, *, request_id: str, time: datetime) -> str:
        """The answer to a command line; RemoteError NOT_A_COMMAND for what is none."""
        request = agent_service_pb2.RunCommandRequest(
            line=sendable(line), request_id=request_id, time=_instant(time)
        )
        response = await self._stub.RunCommand(request, timeout=_COMMAND_S)
        answer: str = response.answer
        return answer

    async def stop(self, *, request_id: str, before: datetime) -> list[str]:
        """Stop the root's turn and its subagents; the names of those that were stopped."""
        request = agent_service_pb2.StopTurnRequest(request_id=request_id, before_time=_instant(before))
        response = await self._stub.StopTurn(request, timeout=_READ_S)
        return list(response.stopped)

    async def open_proposals(self, most: int) -> list[tuple[str, Proposed]]:
        """What awaits the user's yes, with who asks: the newest `most`, the oldest of them first."""
        request = agent_service_pb2.ListProposalsRequest(state=event_pb2.PROPOSAL_STATE_OPEN, page_size=most)
        response = await self._stub.ListProposals(request, timeout=_READ_S)
        return [(one.agent, proposed_from_proto(one)) for one in reversed(response.proposals)]

    async def delivery_state(self, key: str) -> tuple[bool, str]:
        """Whether the message of `key` is done, and the turn that took it; (False, "") while unknown."""
        request = agent_service_pb2.ListDeliveriesRequest(key=key, page_size=1)
        response = await self._stub.ListDeliveries(request, timeout=_READ_S)
        if not response.deliveries:
            return False, ""
        found = response.deliveries[0]
        return found.state == delivery_pb2.DELIVERY_STATE_DONE, found.turn

    async def usage(self, since: str) -> list[Spent]:
        """Model usage from the day `since`, YYYY-MM-DD; thirty days when it is empty. Newest first."""
        found: list[Spent] = []
        request = agent_service_pb2.GetUsageRequest(since_day=since)
        while True:
            page = await self._stub.GetUsage(request, timeout=_READ_S)
            found += [_spent(one) for one in page.usage]
            if not page.next_page_token:
                return found
            request.page_token = page.next_page_token


async def _chunks(pieces: AsyncIterable[bytes]) -> AsyncIterator[image_pb2.PutImageRequest]:
    """`pieces` as the contract wants them: at the end, apart, the checksum of all."""
    sent = hashlib.sha256()
    async for piece in pieces:
        sent.update(piece)
        yield image_pb2.PutImageRequest(chunk=Chunk(content=piece))
    yield image_pb2.PutImageRequest(chunk=Chunk(sha256=sent.digest()))


def _spent(usage: usage_pb2.Usage) -> Spent:
    known = usage.purpose in usage_pb2.UsagePurpose.values()
    purpose = usage_pb2.UsagePurpose.Name(usage.purpose) if known else "USAGE_PURPOSE_OTHER"
    return Spent(
        day=usage.day,
        agent=usage.agent,
        purpose=purpose.removeprefix("USAGE_PURPOSE_").lower(),
        model=usage.model,
        calls=usage.calls,
        input_tokens=usage.input_tokens,
        cached_input_tokens=usage.cached_input_tokens,
        output_tokens=usage.output_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        cost_millionths=usage.cost_millionths if usage.HasField("cost_millionths") else None,
    )


def _instant(time: datetime) -> Timestamp:
    stamp = Timestamp()
    stamp.FromDatetime(time)
    return stamp
