"""An agent service on loopback that keeps its promises and has no model: a test is its agent.

Deliver and TellUser are idempotent by key, Subscribe resumable by stream and number, RunCommand by request
id. `fail` makes a method refuse, `hold` makes it wait; both may come before it did its work or after. It
passes what the real service passes: tests/contract/test_agents_alike.py.
"""

import asyncio
import hashlib
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import grpc
import grpc.aio
from onechat.agent.v1 import (
    agent_service_pb2,
    agent_service_pb2_grpc,
    delivery_pb2,
    event_pb2,
    image_pb2,
)
from onechat.common.v1.chunk_pb2 import Chunk
from onechat_runtime.errors import KeyReused, ServiceError
from onechat_runtime.listening import Served
from onechat_runtime.tokens import CALLERS

from tests.fakes.loopback import TOKENS, Loopback, serving

_COMMAND = re.compile(r"/[a-zA-Z_]+(@\w+)?(\s.*)?", re.DOTALL)
ROOT = "root-id"
_IMAGES = {b"\x89PNG\r\n\x1a\n": ".png", b"\xff\xd8\xff": ".jpg", b"GIF8": ".gif", b"RIFF": ".webp"}
_PIECE = 65_536  # bytes of a chunk
_DESCRIPTOR = agent_service_pb2.DESCRIPTOR.services_by_name["AgentService"]


class EventsGone(ServiceError):
    """Those events are gone."""

    code, reason = grpc.StatusCode.OUT_OF_RANGE, "EVENTS_GONE"


class ImageInvalid(ServiceError):
    """That is no image."""

    code, reason = grpc.StatusCode.INVALID_ARGUMENT, "IMAGE_INVALID"


class ImageUnknown(ServiceError):
    """There is no such image."""

    code, reason = grpc.StatusCode.NOT_FOUND, "IMAGE_UNKNOWN"


class ProposalUnknown(ServiceError):
    """There is no such proposal."""

    code, reason = grpc.StatusCode.NOT_FOUND, "PROPOSAL_UNKNOWN"


class NoticeInvalid(ServiceError):
    """That is no notice."""

    code, reason = grpc.StatusCode.INVALID_ARGUMENT, "NOTICE_INVALID"


class NotACommand(ServiceError):
    """That is no command."""

    code, reason = grpc.StatusCode.INVALID_ARGUMENT, "NOT_A_COMMAND"


@dataclass(kw_only=True)
class Fault:
    """The next `times` calls of `method` fail with `code`, before their work is done or after."""

    method: str
    code: grpc.StatusCode = grpc.StatusCode.UNAVAILABLE
    reason: str = ""
    when: Literal["before", "after"] = "before"
    times: int = 1
    only_key: str = ""  #: only deliveries whose key ends so
    released: asyncio.Event | None = None  #: wait for it instead of failing


@dataclass(kw_only=True)
class AgentServicer(agent_service_pb2_grpc.AgentServiceServicer):
    """The agent service's state."""

    stream: str = "stream-1"
    oldest: int = 1  #: events before it are gone
    deliveries: dict[str, delivery_pb2.NewDelivery] = field(default_factory=dict)  #: by key, in order
    commands: dict[str, agent_service_pb2.RunCommandRequest] = field(default_factory=dict)  #: by request id
    events: list[event_pb2.Event] = field(default_factory=list)
    images: dict[str, bytes] = field(default_factory=dict)  #: by stored name
    calls: Counter[str] = field(default_factory=Counter)  #: by method, failed ones too
    subscribed: list[agent_service_pb2.SubscribeRequest] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    proposals: dict[int, event_pb2.Proposal] = field(default_factory=dict)  #: by number, as they are now
    answers: dict[str, bool] = field(default_factory=dict)  #: to proposals, by request id
    routes: dict[str, str] = field(default_factory=dict)  #: a child's name by source
    told: dict[str, str] = field(default_factory=dict)  #: what gateways told the user, by key
    replies: Callable[[delivery_pb2.NewDelivery], str] | None = None  #: what a new delivery is answered with
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    _number: int = 0
    #: Not kept, for who listens when it comes: each with the number of the event that it came after.
    _passing: list[tuple[int, dict[str, Any]]] = field(default_factory=list)

    async def Deliver(self, request: Any, context: Any) -> agent_service_pb2.DeliverResponse:
        await self._called("Deliver")
        keys = [delivery.key for delivery in request.deliveries]
        fault = self._fault("Deliver", keys)
        await _apply(fault, "before")
        if any(self.deliveries.get(one.key, one) != one for one in request.deliveries):
            raise KeyReused
        for delivery in request.deliveries:
            if delivery.key not in self.deliveries:
                self.deliveries[delivery.key] = delivery
                if self.replies is not None:
                    await self.take_turn(self.replies(delivery))
        await self._wake()
        await _apply(fault, "after")
        return agent_service_pb2.DeliverResponse(
            deliveries=[
                delivery_pb2.Delivery(key=key, delivery_id=number) for number, key in enumerate(keys, 1)
            ]
        )

    async def ListAgents(self, request: Any, context: Any) -> agent_service_pb2.ListAgentsResponse:
        root = agent_service_pb2.Agent(agent_id=ROOT, name="One", role=agent_service_pb2.AGENT_ROLE_ROOT)
        return agent_service_pb2.ListAgentsResponse(agents=[root])

    async def ListRoutes(self, request: Any, context: Any) -> agent_service_pb2.ListRoutesResponse:
        found = [
            (source, name) for source, name in sorted(self.routes.items()) if source > request.page_token
        ]
        size = request.page_size or 100
        return agent_service_pb2.ListRoutesResponse(
            routes=[agent_service_pb2.Route(source=source, agent=name) for source, name in found[:size]],
            next_page_token=found[size - 1][0] if found[size:] else "",
        )

    async def TellUser(self, request: Any, context: Any) -> agent_service_pb2.TellUserResponse:
        await self._called("TellUser")
        fault = self._fault("TellUser", [request.key])
        await _apply(fault, "before")
        if not 0 < len(request.key) <= 200 or not 0 < len(request.text.strip()) <= 2_000:
            raise NoticeInvalid
        if request.key not in self.told:
            self.told[request.key] = request.text
            await self.notice(request.text)
        await _apply(fault, "after")
        return agent_service_pb2.TellUserResponse()

    async def RunCommand(self, request: Any, context: Any) -> agent_service_pb2.RunCommandResponse:
        await self._called("RunCommand")
        fault = self._fault("RunCommand", [request.request_id])
        await _apply(fault, "before")
        if not _COMMAND.fullmatch(request.line.strip()):
            raise NotACommand
        if self.commands.setdefault(request.request_id, request).line != request.line:
            raise KeyReused
        await self._wake()
        await _apply(fault, "after")
        return agent_service_pb2.RunCommandResponse(answer=f"did {request.line}")

    async def AnswerProposal(self, request: Any, context: Any) -> agent_service_pb2.AnswerProposalResponse:
        await self._called("AnswerProposal")
        fault = self._fault("AnswerProposal", [request.request_id])
        await _apply(fault, "before")
        proposal = self.proposals.get(request.number)
        if proposal is None:
            raise ProposalUnknown
        if self.answers.setdefault(request.request_id, request.yes) != request.yes:
            raise KeyReused
        if proposal.state == event_pb2.PROPOSAL_STATE_OPEN:
            await self.decide(request.number, "DONE" if request.yes else "REFUSED")
        await _apply(fault, "after")
        return agent_service_pb2.AnswerProposalResponse(proposal=self.proposals[request.number])

    async def propose(self, number: int, text: str, agent: str = "One") -> None:
        """An agent asks for the user's yes."""
        self.proposals[number] = event_pb2.Proposal(number=number, agent=agent, text=text)
        await self.decide(number, "OPEN")

    async def decide(self, number: int, state: str, outcome: str = "") -> None:
        """The proposal of that number is in another state, with an event that says so."""
        proposal = event_pb2.Proposal()
        proposal.CopyFrom(self.proposals[number])
        proposal.state, proposal.outcome = event_pb2.ProposalState.Value(f"PROPOSAL_STATE_{state}"), outcome
        self.proposals[number] = proposal
        await self.tell(proposal=event_pb2.ProposalChange(proposal=proposal))

    async def text_comes(self, text: str, *, turn: str = "turn", step: int = 1, offset: int = 0) -> None:
        """Some of an answer of the root comes."""
        delta = event_pb2.TextDelta(agent_id=ROOT, turn=turn, step=step, offset=offset, text=text)
        self._passing.append((self._number, {"text": delta}))
        await self._wake()

    async def text_is_void(self, *, turn: str = "turn", step: int = 1) -> None:
        """A step of the root begins again."""
        reset = event_pb2.TextReset(agent_id=ROOT, turn=turn, step=step)
        self._passing.append((self._number, {"text_reset": reset}))
        await self._wake()

    async def PutImage(self, request_iterator: Any, context: Any) -> image_pb2.PutImageResponse:
        await self._called("PutImage")
        await _apply(self._fault("PutImage", []), "before")
        chunks = [request.chunk async for request in request_iterator]
        content = b"".join(chunk.content for chunk in chunks)
        digest = hashlib.sha256(content).digest()
        ending = next((end for head, end in _IMAGES.items() if content.startswith(head)), None)
        if ending is None or not chunks or chunks[-1].sha256 != digest:
            raise ImageInvalid
        name = f"{digest[:8].hex()}{ending}"
        self.images[name] = content
        return image_pb2.PutImageResponse(name=name)

    async def GetImage(self, request: Any, context: Any) -> AsyncIterator[image_pb2.GetImageResponse]:
        await self._called("GetImage")
        await _apply(self._fault("GetImage", []), "before")
        content = self.images.get(request.name)
        if content is None:
            raise ImageUnknown
        for at in range(0, len(content), _PIECE):
            yield image_pb2.GetImageResponse(chunk=Chunk(content=content[at : at + _PIECE]))
        yield image_pb2.GetImageResponse(chunk=Chunk(sha256=hashlib.sha256(content).digest()))

    async def Subscribe(self, request: Any, context: Any) -> AsyncIterator[Any]:
        await self._called("Subscribe")
        fault = self._fault("Subscribe", [])
        await _apply(fault, "before")
        if request.HasField("after"):
            self._want_here(request)
        place = request.after if request.HasField("after") else self._number
        heard = len(self._passing)
        self.subscribed.append(request)
        await self._wake()
        yield agent_service_pb2.SubscribeResponse(
            stream=self.stream, number=self._number, ready=agent_service_pb2.Ready()
        )
        while True:
            newest = self._number
            for after, item in [*self._passing[heard:], (newest, {})]:
                for event in [event for event in self.events if place < event.number <= after]:
                    place = event.number
                    if request.audience != "*" and (request.audience or "user") != (event.audience or "user"):
                        continue
                    yield agent_service_pb2.SubscribeResponse(
                        stream=self.stream, number=self._number, event=event
                    )
                if item:
                    heard += 1
                    yield agent_service_pb2.SubscribeResponse(stream=self.stream, number=self._number, **item)
            async with self._changed:
                while self._number <= place and len(self._passing) <= heard:
                    await self._changed.wait()

    def _want_here(self, request: Any) -> None:
        """Raises EventsGone for a place of another stream, below the oldest event or beyond the newest."""
        elsewhere = request.stream not in {"", self.stream}
        if elsewhere or not self.oldest - 1 <= request.after <= self._number:
            raise EventsGone(oldest=str(self.oldest), stream=self.stream)

    async def take_turn(self, reply: str) -> None:
        """A whole turn that ends with `reply`."""
        turn = f"turn-{self._number}"
        await self.tell(turn_change=_change("STATE_BEGUN"), turn=turn)
        await self.tell(reply=event_pb2.Reply(text=reply), turn=turn)
        await self.tell(turn_change=_change("STATE_ENDED"), turn=turn)

    async def begin_turn(self, turn: str = "turn") -> None:
        await self.tell(turn_change=_change("STATE_BEGUN"), turn=turn)

    async def end_turn(self, turn: str = "turn", state: str = "STATE_ENDED", reason: str = "") -> None:
        await self.tell(turn_change=_change(state, reason), turn=turn)

    async def reply(self, text: str, turn: str = "") -> None:
        await self.tell(reply=event_pb2.Reply(text=text), turn=turn)

    async def notice(self, text: str, turn: str = "") -> None:
        await self.tell(notice=event_pb2.Notice(text=text), turn=turn)

    async def tell(self, **fields: Any) -> int:
        """Add an event; its number."""
        self._number += 1
        fields = {"agent_id": ROOT, "agent": "One", "audience": "user", **fields}
        self.events.append(event_pb2.Event(number=self._number, **fields))
        await self._wake()
        return self._number

    def texts(self) -> list[str]:
        """What was delivered, in order."""
        return [delivery.text for delivery in self.deliveries.values()]

    async def until(self, condition: Callable[[], bool], within_s: float = 30.0) -> None:
        """Return once `condition` holds; TimeoutError after `within_s` of real time."""
        async with asyncio.timeout(within_s), self._changed:
            await self._changed.wait_for(condition)

    def fail(self, method: str, **what: Any) -> Fault:
        """Have calls of `method` fail; see Fault."""
        fault = Fault(method=method, **what)
        self.faults.append(fault)
        return fault

    async def _called(self, method: str) -> None:
        self.calls[method] += 1
        await self._wake()

    async def _wake(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    def _fault(self, method: str, keys: Sequence[str]) -> Fault | None:
        for fault in self.faults:
            if fault.method == method and (
                not fault.only_key or any(k.endswith(fault.only_key) for k in keys)
            ):
                fault.times -= 1
                if fault.times <= 0:
                    self.faults.remove(fault)
                return fault
        return None


def served(agent: AgentServicer) -> Served:
    """`agent` for anybody."""
    anybody = frozenset(CALLERS)
    return Served(
        descriptor=_DESCRIPTOR,
        add=lambda server: agent_service_pb2_grpc.add_AgentServiceServicer_to_server(agent, server),
        allow={method.name: anybody for method in _DESCRIPTOR.methods},
    )


@asynccontextmanager
async def agent_serving(
    agent: AgentServicer, *, address: str = "127.0.0.1:0", tokens: dict[str, str] | None = None
) -> AsyncIterator[Loopback]:
    """Serve `agent` on loopback."""
    async with serving(served(agent), name="agent", address=address, tokens=tokens or TOKENS) as loopback:
        yield loopback


async def _apply(fault: Fault | None, when: str) -> None:
    if fault is None or fault.when != when:
        return
    if fault.released is not None:
        await fault.released.wait()
        return
    raise _refusal(fault.code, fault.reason)


def _refusal(code: grpc.StatusCode, reason: str) -> ServiceError:
    made = type("Refusal", (ServiceError,), {"code": code, "reason": reason or "TEST"})
    refusal: ServiceError = made("as the test asked")
    return refusal


def _change(state: str, reason: str = "") -> event_pb2.TurnChange:
    return event_pb2.TurnChange(state=event_pb2.TurnChange.State.Value(state), reason=reason)
