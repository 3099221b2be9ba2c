"""The fake agent service as a chat sees it: what the user said, text as it comes, stops, usage.

`ChatAgent` adds to agent_servicer.AgentServicer what a gateway does not need. Texts that pass by are heard by
those who listen then, as the real service does.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import grpc
from google.protobuf.timestamp_pb2 import Timestamp
from onechat.agent.v1 import agent_service_pb2, delivery_pb2, event_pb2, usage_pb2
from onechat_runtime.errors import ServiceError

from tests.fakes.agent_servicer import ROOT, AgentServicer


class StreamCut(ServiceError):
    """The service goes away."""

    code, reason = grpc.StatusCode.UNAVAILABLE, "CUT"


@dataclass(kw_only=True)
class ChatAgent(AgentServicer):
    """An agent service with what a terminal uses; `on_delivery` is what the agent does with a message."""

    on_delivery: Callable[[delivery_pb2.NewDelivery], Awaitable[None]] | None = None
    stops: list[agent_service_pb2.StopTurnRequest] = field(default_factory=list)
    on_stop: Callable[[], Awaitable[None]] | None = None
    usage: list[usage_pb2.Usage] = field(default_factory=list)
    proposals: dict[int, event_pb2.Proposal] = field(default_factory=dict)  #: by number
    memory_away: bool = False  #: the memory service does not answer
    usage_asked: list[str] = field(default_factory=list)  #: since which day
    listening: int = 0  #: subscribers that are here
    _heard: list[agent_service_pb2.SubscribeResponse] = field(default_factory=list)
    _cuts: int = 0
    _doing: set[asyncio.Task[None]] = field(default_factory=set)

    async def Deliver(self, request: Any, context: Any) -> agent_service_pb2.DeliverResponse:
        known = set(self.deliveries)
        response = await super().Deliver(request, context)
        for delivery in request.deliveries:
            if delivery.key not in known:
                await self.tell(
                    user_message=event_pb2.UserMessage(
                        key=delivery.key, text=delivery.text, images=delivery.images, delivery_id=1
                    )
                )
                if self.on_delivery is not None:
                    task = asyncio.ensure_future(self.on_delivery(delivery))
                    self._doing.add(task)
        return response

    async def Subscribe(self, request: Any, context: Any) -> AsyncIterator[Any]:
        await self._called("Subscribe")
        place, cuts = self._number, self._cuts
        if request.HasField("after"):
            self._want_here(request)
            place = request.after
        elif request.last:
            place = max(self._number - request.last, self.oldest - 1)
        kept = [self._response(event=event) for event in self.events if event.number > place]
        at = len(self._heard)
        self.subscribed.append(request)
        self.listening += 1
        await self._wake()
        try:
            yield self._response(ready=agent_service_pb2.Ready())
            for response in kept:
                yield response
            while True:
                while at < len(self._heard) and self._cuts == cuts:
                    at += 1
                    yield self._heard[at - 1]
                async with self._changed:
                    if self._cuts != cuts:
                        raise StreamCut
                    if at == len(self._heard):
                        await self._changed.wait()
        finally:
            self.listening -= 1
            await self._wake()

    async def StopTurn(self, request: Any, context: Any) -> agent_service_pb2.StopTurnResponse:
        self.stops.append(request)
        if self.on_stop is None:
            return agent_service_pb2.StopTurnResponse()
        await self.on_stop()
        return agent_service_pb2.StopTurnResponse(stopped=["One"])

    async def GetAgent(self, request: Any, context: Any) -> agent_service_pb2.GetAgentResponse:
        if self.memory_away:  # only memory knows how many messages there are
            raise StreamCut
        agent = agent_service_pb2.Agent(agent_id=ROOT, name="One", role=agent_service_pb2.AGENT_ROLE_ROOT)
        return agent_service_pb2.GetAgentResponse(agent=agent, messages=2)

    async def ListAgents(self, request: Any, context: Any) -> agent_service_pb2.ListAgentsResponse:
        agent = agent_service_pb2.Agent(
            agent_id=ROOT, name="One", role=agent_service_pb2.AGENT_ROLE_ROOT, doing="idle", model="demo"
        )
        return agent_service_pb2.ListAgentsResponse(agents=[agent])

    async def ListDeliveries(self, request: Any, context: Any) -> agent_service_pb2.ListDeliveriesResponse:
        answered = {
            one.key for event in self.events for one in (*event.reply.answered, *event.turn_change.answered)
        }
        if request.key not in self.deliveries:
            return agent_service_pb2.ListDeliveriesResponse()
        done = request.key in answered
        state = delivery_pb2.DELIVERY_STATE_DONE if done else delivery_pb2.DELIVERY_STATE_QUEUED
        delivery = delivery_pb2.Delivery(key=request.key, state=state)
        return agent_service_pb2.ListDeliveriesResponse(deliveries=[delivery])

    async def ListProposals(self, request: Any, context: Any) -> agent_service_pb2.ListProposalsResponse:
        found = [one for one in self.proposals.values() if request.state in (0, one.state)]
        return agent_service_pb2.ListProposalsResponse(proposals=reversed(found))

    async def propose(self, number: int, text: str, state: str = "OPEN", outcome: str = "") -> None:
        """A proposal is made, or has changed."""
        proposal = event_pb2.Proposal(
            number=number,
            agent_id=ROOT,
            agent="One",
            text=text,
            state=event_pb2.ProposalState.Value(f"PROPOSAL_STATE_{state}"),
            outcome=outcome,
        )
        self.proposals[number] = proposal
        await self.tell(proposal=event_pb2.ProposalChange(proposal=proposal))

    async def GetUsage(self, request: Any, context: Any) -> agent_service_pb2.GetUsageResponse:
        self.usage_asked.append(request.since_day)
        return agent_service_pb2.GetUsageResponse(usage=self.usage)

    async def tell(self, *, agent_id: str = ROOT, time: datetime | None = None, **fields: Any) -> int:
        stamp = Timestamp()
        stamp.FromDatetime(time or datetime.now(UTC))
        number = await super().tell(agent_id=agent_id, time=stamp, **fields)
        self._heard.append(self._response(event=self.events[-1]))
        await self._wake()
        return number

    async def say(self, text: str, *, offset: int = 0, step: int = 1, turn: str = "turn") -> None:
        """A piece of an answer as it comes."""
        delta = event_pb2.TextDelta(agent_id=ROOT, turn=turn, step=step, offset=offset, text=text)
        await self.pass_by(text=delta)

    async def pass_by(self, **item: Any) -> None:
        """Something that is not kept."""
        self._heard.append(self._response(**item))
        await self._wake()

    async def answer(self, key: str, text: str, *, turn: str = "turn", streamed: bool = True) -> None:
        """A whole turn that answers the message of `key`."""
        answered = [event_pb2.Answered(key=key)]
        await self.begin_turn(turn)
        if streamed:
            await self.say(text, turn=turn)
        await self.tell(reply=event_pb2.Reply(text=text, answered=answered), turn=turn)
        await self.over(turn, answered=answered)

    async def over(self, turn: str, *, state: str = "STATE_ENDED", **fields: Any) -> None:
        """The turn is over; `fields` are those of TurnChange."""
        value = event_pb2.TurnChange.State.Value(state)
        await self.tell(turn_change=event_pb2.TurnChange(state=value, **fields), turn=turn)

    async def cut(self) -> None:
        """End every stream as a service that goes away does."""
        async with self._changed:
            self._cuts += 1
            self._changed.notify_all()

    def _response(self, **item: Any) -> agent_service_pb2.SubscribeResponse:
        number = item["event"].number if "event" in item else self._number
        return agent_service_pb2.SubscribeResponse(stream=self.stream, number=number, **item)
