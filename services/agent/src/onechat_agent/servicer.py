"""agent.v1.AgentService: proto → domain → proto, and who may call what."""

from collections.abc import AsyncIterator
from datetime import date
from typing import Any, Final

from onechat.agent.v1 import agent_service_pb2 as service
from onechat.agent.v1 import agent_service_pb2_grpc
from onechat_runtime.request_ids import call_body
from onechat_runtime.server import Served
from onechat_runtime.store import Store
from onechat_runtime.tokens import current_caller

from onechat_agent import pages
from onechat_agent.adapters import delivery_rows, protos, route_rows
from onechat_agent.adapters.memory_images import STREAM_S, MemoryImages
from onechat_agent.agents import Agents
from onechat_agent.commands import Commands
from onechat_agent.domain.chat import Kind
from onechat_agent.domain.delivery import NewDelivery, fault
from onechat_agent.errors import BackingNotAllowed, BadDay, DeliveryInvalid, TooManyDeliveries
from onechat_agent.events import Events
from onechat_agent.group_servicer import GroupServicer
from onechat_agent.groups import Groups
from onechat_agent.image_servicer import ImageServicer
from onechat_agent.judging import Judging
from onechat_agent.later_servicer import LaterServicer
from onechat_agent.notices import Notices
from onechat_agent.proposals import Proposals, body_of
from onechat_agent.queue import Queue
from onechat_agent.resets import Resets
from onechat_agent.stops import Stops
from onechat_agent.usage_book import UsageBook

DELIVERIES_MAX: Final = 256
LAST_MAX: Final = 1_000

# Which sources a gateway speaks for; none of them may say that something else wrote.
_SOURCES: Final = {
    "telegram": ("user", "telegram:"),
    "whatsapp": ("whatsapp:",),
    "scheduler": ("schedule:",),
}
_BACKED_SOURCES: Final = ("user", "schedule:")  # a batch, a group's message, a report never is
_BACKS: Final = frozenset({"operator", "telegram", "scheduler"})
_KNOWS_IDS: Final = frozenset({"whatsapp"})  # who says which two sources are one: it moves routes


def want_allowed(new: NewDelivery, caller: str) -> None:
    """Raises BackingNotAllowed when `caller` cannot hand over such a delivery."""
    if new.backed and (caller not in _BACKS or not new.source.startswith(_BACKED_SOURCES)):
        raise BackingNotAllowed()
    if new.kind is Kind.USER and new.source != "user":
        raise BackingNotAllowed("Only what comes from the source user is logged as the user's words.")
    if new.former_source and caller not in _KNOWS_IDS:
        raise BackingNotAllowed("Only the gateway to WhatsApp says that a chat has another id.")
    sources = _SOURCES.get(caller)
    if sources is not None and not new.source.startswith(sources):
        raise BackingNotAllowed(
            f"{caller} hands over nothing from the source {new.source.partition(':')[0]}."
        )


class AgentServicer(ImageServicer, GroupServicer, LaterServicer):
    """The contract of protos/onechat/agent/v1."""

    def __init__(
        self,
        *,
        queue: Queue,
        events: Events,
        agents: Agents,
        stops: Stops,
        commands: Commands,
        usage: UsageBook,
        proposals: Proposals,
        store: Store,
        images: MemoryImages,
        groups: Groups,
        resets: Resets,
        judging: Judging,
        notices: Notices,
    ) -> None:
        self._queue = queue
        self._events = events
        self._agents = agents
        self._stops = stops
        self._commands = commands
        self._usage = usage
        self._proposals = proposals
        self._store = store
        self._images = images
        self._groups = groups
        self._resets = resets
        self._judging = judging
        self._notices = notices

    async def Deliver(self, request: service.DeliverRequest, context: Any) -> service.DeliverResponse:
        if not 0 < len(request.deliveries) <= DELIVERIES_MAX:
            raise TooManyDeliveries()
        deliveries = [protos.new_delivery(message) for message in request.deliveries]
        for new in deliveries:
            if (why := fault(new)) is not None:
                raise DeliveryInvalid(why)
            want_allowed(new, current_caller())
        stored = await self._queue.accept(deliveries)
        return service.DeliverResponse(deliveries=[protos.delivery(one) for one in stored])

    async def ListDeliveries(
        self, request: service.ListDeliveriesRequest, context: Any
    ) -> service.ListDeliveriesResponse:
        size = pages.size(request.page_size, usual=100, most=1_000)
        before = pages.number(request.page_token)
        found = await self._store.read_aside(
            lambda db: delivery_rows.newest(
                db,
                agent=request.agent_id,
                state=protos.delivery_state(request.state),
                key=request.key,
                before=before,
                limit=size,
            )
        )
        return service.ListDeliveriesResponse(
            deliveries=[protos.delivery(one) for one in found],
            next_page_token=str(found[-1].id) if len(found) == size else "",
        )

    async def Subscribe(
        self, request: service.SubscribeRequest, context: Any
    ) -> AsyncIterator[service.SubscribeResponse]:
        audience = request.audience or "user"
        start = await self._events.start(
            after=request.after if request.HasField("after") else None,
            stream=request.stream,
            audience=audience,
            last=min(request.last, LAST_MAX),
        )
        stream = self._events.stream
        with self._events.listening(audience) as subscriber:
            yield service.SubscribeResponse(stream=stream, number=start, ready=service.Ready())
            async for seen in self._events.seen_by(subscriber, start):
                yield protos.seen(stream, seen.number, seen.item)

    async def RunCommand(
        self, request: service.RunCommandRequest, context: Any
    ) -> service.RunCommandResponse:
        time = protos.instant(request.time) if request.HasField("time") else None
        answer = await self._commands.run(request.line, time, request.request_id)
        return service.RunCommandResponse(answer=answer)

    async def StopTurn(self, request: service.StopTurnRequest, context: Any) -> service.StopTurnResponse:
        stopped = await self._stops.stop(
            request.agent,
            everybody=request.all,
            before=protos.instant(request.before_time) if request.HasField("before_time") else None,
            request_id=request.request_id,
            body=call_body("StopTurn", request),
        )
        return service.StopTurnResponse(stopped=stopped)

    async def ListAgents(
        self, request: service.ListAgentsRequest, context: Any
    ) -> service.ListAgentsResponse:
        size = pages.size(request.page_size, usual=100, most=1_000)
        start = pages.number(request.page_token) or 0
        agents = self._agents.all()
        return service.ListAgentsResponse(
            agents=[protos.agent(one) for one in agents[start : start + size]],
            next_page_token=str(start + size) if start + size < len(agents) else "",
        )

    async def ListRoutes(
        self, request: service.ListRoutesRequest, context: Any
    ) -> service.ListRoutesResponse:
        size = pages.size(request.page_size, usual=100, most=1_000)
        routes = self._store.read(lambda db: route_rows.page(db, after=request.page_token, limit=size))
        return service.ListRoutesResponse(
            routes=[
                service.Route(source=source, agent_id=agent, agent=name) for source, agent, name in routes
            ],
            next_page_token=routes[-1][0] if len(routes) == size else "",
        )

    async def GetUsage(self, request: service.GetUsageRequest, context: Any) -> service.GetUsageResponse:
        size = pages.size(request.page_size, usual=1_000, most=10_000)
        start = pages.number(request.page_token) or 0
        since, until = self._usage.days(_day(request.since_day), _day(request.until_day))
        records = self._usage.between(since, until, limit=size, offset=start)
        return service.GetUsageResponse(
            usage=[protos.usage(record) for record in records],
            next_page_token=str(start + size) if len(records) == size else "",
        )

    async def ListProposals(
        self, request: service.ListProposalsRequest, context: Any
    ) -> service.ListProposalsResponse:
        size = pages.size(request.page_size, usual=100, most=1_000)
        state, before = protos.proposal_state(request.state), pages.number(request.page_token)
        found = self._proposals.page(state=state, before=before, limit=size)
        return service.ListProposalsResponse(
            proposals=[protos.proposal(one) for one in found],
            next_page_token=str(found[-1].number) if len(found) == size else "",
        )

    async def AnswerProposal(
        self, request: service.AnswerProposalRequest, context: Any
    ) -> service.AnswerProposalResponse:
        answered = await self._proposals.answer(
            request.number,
            yes=request.yes,
            request_id=request.request_id,
            body=body_of(request.number, yes=request.yes),
        )
        return service.AnswerProposalResponse(proposal=protos.proposal(answered))

    async def TellUser(self, request: service.TellUserRequest, context: Any) -> service.TellUserResponse:
        await self._notices.tell(current_caller(), request.key, request.text)
        return service.TellUserResponse()

    async def GetAgent(self, request: service.GetAgentRequest, context: Any) -> service.GetAgentResponse:
        found = self._agents.find(request.agent)
        messages, generation = await self._agents.messages(found.id)
        return service.GetAgentResponse(agent=protos.agent(found), messages=messages, generation=generation)


def _day(text: str) -> str:
    """A day as it was asked for; empty for none. Raises BadDay."""
    if text:
        try:
            day = date.fromisoformat(text)
        except ValueError:
            raise BadDay() from None
        if day.isoformat() != text:  # it reads weeks, too
            raise BadDay()
    return text


_OPERATOR: Final = frozenset({"operator"})
_CLIENTS: Final = frozenset({"operator", "telegram"})
_GATEWAYS: Final = frozenset({"operator", "telegram", "whatsapp", "scheduler"})
ALLOW: Final = {
    "Deliver": _GATEWAYS,
    "ListDeliveries": _OPERATOR,
    "Subscribe": _CLIENTS,
    "RunCommand": _CLIENTS,
    "StopTurn": _CLIENTS,
    "ListAgents": _CLIENTS,
    "ListRoutes": _CLIENTS | {"whatsapp"},
    "GetUsage": _CLIENTS,
    "PutImage": _GATEWAYS,
    "GetImage": _CLIENTS,
    "ListProposals": _CLIENTS,
    "AnswerProposal": _CLIENTS,
    "CreateGroupAgent": _CLIENTS,
    "GetAgent": _CLIENTS,
    "ResetAgentLog": _CLIENTS,
    "JudgeAddressed": _CLIENTS,
    "TellUser": frozenset({"whatsapp"}),
    "PlanImport": _OPERATOR,
    "RunImport": _OPERATOR,
    "ListKeptLogs": _OPERATOR,
    "RestoreKeptLog": _OPERATOR,
    "DeleteKeptLog": _OPERATOR,
}


def served(servicer: AgentServicer) -> Served:
    """The service with its allow-list."""
    return Served(
        descriptor=service.DESCRIPTOR.services_by_name["AgentService"],
        add=lambda server: agent_service_pb2_grpc.add_AgentServiceServicer_to_server(servicer, server),
        allow=ALLOW,
        caps={"PutImage": STREAM_S, "GetImage": STREAM_S},
    )
