"""The agents' events, followed and read as domain/events.py has them. Every call raises RemoteError.

The owner's chat is with the root: what other agents reply goes to the agents above them, and is not shown. A
group's agent speaks in its group alone: where, its deliveries' reply_to says.
"""

from collections.abc import AsyncGenerator, Iterable
from typing import Final

from onechat.agent.v1 import agent_service_pb2, agent_service_pb2_grpc, event_pb2
from onechat_runtime.channels import NO_DEADLINE
from onechat_runtime.errors import RemoteError

from onechat_telegram.domain.callbacks import Question
from onechat_telegram.domain.events import (
    AgentEvent,
    EventsMissed,
    NotShown,
    Opened,
    PictureShown,
    ProposalAnswered,
    Proposed,
    Said,
    TextCame,
    TextVoid,
    TurnBegan,
    TurnOver,
)
from onechat_telegram.domain.ids import ChatId, MessageId
from onechat_telegram.domain.outgoing import EventPlace, Spot

LIST_S: Final = 10.0
_OURS: Final = "telegram:"  # how the groups' audiences begin
_CHANGE: Final = event_pb2.TurnChange
_AT_WORK: Final = frozenset({_CHANGE.STATE_BEGUN, _CHANGE.STATE_RESUMED})


class AgentEvents:
    """The events of an agent service."""

    def __init__(self, stub: agent_service_pb2_grpc.AgentServiceStub) -> None:
        self._stub = stub

    async def follow(self, after: EventPlace | None) -> AsyncGenerator[AgentEvent, None]:
        """What happens after `after`, without end; from now on without it.

        Raises EventsMissed when events after that place are not all kept.
        """
        request = agent_service_pb2.SubscribeRequest(audience="*")
        if after is not None:
            request.after, request.stream = after.number, after.stream
        try:
            # It waits for an agent service that is away, and is there as soon as that is.
            stream = self._stub.Subscribe(request, timeout=NO_DEADLINE, wait_for_ready=True)
            root = ""
            async for response in stream:
                root = root or await self._root()
                yield _read(response, root)
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


def _read(response: agent_service_pb2.SubscribeResponse, root: str) -> AgentEvent:
    place = EventPlace(stream=response.stream, number=response.number)
    match response.WhichOneof("item"):
        case "ready":
            return Opened(place=place)
        case "text" if response.text.agent_id == root:
            text = response.text
            return TextCame(turn=text.turn, step=text.step, offset=text.offset, text=text.text)
        case "text_reset" if response.text_reset.agent_id == root:
            return TextVoid(turn=response.text_reset.turn, step=response.text_reset.step)
        case "event":
            event = response.event
            place = EventPlace(stream=response.stream, number=event.number)
            if event.WhichOneof("body") == "proposal":
                return _proposal(place, event.proposal.proposal)
            if event.audience.startswith(_OURS):
                return _in_a_group(place, event)
            return _for_the_owner(place, event, root)
    return NotShown(place=place)


def _for_the_owner(place: EventPlace, event: event_pb2.Event, root: str) -> AgentEvent:
    if event.audience not in {"", "user"}:
        return NotShown(place=place)
    turn = event.turn
    match event.WhichOneof("body"):
        case "image":
            return PictureShown(place=place, image=event.image.image, caption=event.image.caption, spot=None)
        case "notice" if event.agent_id != root:
            return Said(place=place, turn=turn, text=f"[{event.agent}] {event.notice.text}", spot=None)
        case _ if event.agent_id != root:
            return NotShown(place=place)
        case "reply":
            return Said(place=place, turn=turn, text=event.reply.text, spot=None)
        case "notice":
            return Said(place=place, turn=turn, text=event.notice.text, spot=None)
        case "turn_change" if event.turn_change.state in _AT_WORK:
            return TurnBegan(place=place, turn=turn)
        case "turn_change":
            return TurnOver(place=place, turn=turn, failure=_failure(event), spot=None)
        case "activity" if turn:
            # Also after a restart of the gateway in the middle of a turn.
            return TurnBegan(place=place, turn=turn)
    return NotShown(place=place)


def _in_a_group(place: EventPlace, event: event_pb2.Event) -> AgentEvent:
    turn = event.turn
    match event.WhichOneof("body"):
        case "reply" if (spot := _spot(event.reply.answered)) is not None:
            return Said(place=place, turn=turn, text=event.reply.text, spot=spot)
        case "notice" if (spot := _spot(event.notice.answered)) is not None:
            return Said(place=place, turn=turn, text=event.notice.text, spot=spot)
        case "image" if (spot := _spot(event.image.answered)) is not None:
            return PictureShown(place=place, image=event.image.image, caption=event.image.caption, spot=spot)
        case "turn_change" if event.turn_change.state not in _AT_WORK:
            spot = _spot(event.turn_change.answered)
            failure = _failure(event) if spot is not None else ""
            return TurnOver(place=place, turn=turn, failure=failure, spot=spot)
    return NotShown(place=place)


def _failure(event: event_pb2.Event) -> str:
    change = event.turn_change
    return str(change.reason) if change.state == _CHANGE.STATE_FAILED else ""


def _spot(answered: Iterable[event_pb2.Answered]) -> Spot | None:
    """Where the newest of the deliveries that say so wants its answer; None where none does."""
    wanted = [one.reply_to for one in answered if one.reply_to.chat]
    if not wanted:
        return None
    place = wanted[-1]
    return Spot(
        chat=ChatId(int(place.chat)),
        answers=MessageId(int(place.message)) if place.message else None,
        topic=int(place.topic) if place.topic else None,
    )


def _proposal(place: EventPlace, proposal: event_pb2.Proposal) -> AgentEvent:
    if proposal.state not in event_pb2.ProposalState.values():
        return NotShown(place=place)
    question = Question(stream=place.stream, number=proposal.number)
    if proposal.state == event_pb2.PROPOSAL_STATE_OPEN:
        return Proposed(place=place, question=question, text=proposal.text)
    return ProposalAnswered(
        place=place,
        question=question,
        text=proposal.text,
        agent=proposal.agent,
        state=state_of(proposal),
        outcome=proposal.outcome,
    )


def state_of(proposal: event_pb2.Proposal) -> str:
    """A proposal's state as the contract names it, in small letters."""
    return event_pb2.ProposalState.Name(proposal.state).removeprefix("PROPOSAL_STATE_").lower()
