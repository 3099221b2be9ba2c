"""The agent's domain values as the contract's messages and back."""

from datetime import UTC, datetime
from typing import Final, assert_never

from google.protobuf.timestamp_pb2 import Timestamp
from onechat.agent.v1 import agent_service_pb2 as service
from onechat.agent.v1 import delivery_pb2, event_pb2, usage_pb2

from onechat_agent.domain.agent import Role
from onechat_agent.domain.chat import Kind
from onechat_agent.domain.delivery import Delivery, DeliveryState, NewDelivery, ReplyTo
from onechat_agent.domain.events import (
    Answered,
    CommandGiven,
    Event,
    Noticed,
    OutsideCame,
    Passing,
    PictureShown,
    ProposalChanged,
    Replied,
    TextCame,
    TextVoid,
    ToolActive,
    TurnChanged,
    TurnPhase,
    UserSaid,
)
from onechat_agent.domain.proposal import Proposal, ProposalState
from onechat_agent.domain.roster import AgentSeen
from onechat_agent.domain.text import clean
from onechat_agent.domain.usage import Purpose, UsageRecord

_KINDS: Final = {
    Kind.USER: delivery_pb2.DELIVERY_KIND_USER,
    Kind.WORK: delivery_pb2.DELIVERY_KIND_WORK,
}
_STATES: Final = {
    DeliveryState.QUEUED: delivery_pb2.DELIVERY_STATE_QUEUED,
    DeliveryState.TAKEN: delivery_pb2.DELIVERY_STATE_TAKEN,
    DeliveryState.DONE: delivery_pb2.DELIVERY_STATE_DONE,
}
_PHASES: Final = {
    TurnPhase.BEGUN: event_pb2.TurnChange.STATE_BEGUN,
    TurnPhase.RESUMED: event_pb2.TurnChange.STATE_RESUMED,
    TurnPhase.ENDED: event_pb2.TurnChange.STATE_ENDED,
    TurnPhase.STOPPED: event_pb2.TurnChange.STATE_STOPPED,
    TurnPhase.FAILED: event_pb2.TurnChange.STATE_FAILED,
}
_PROPOSAL_STATES: Final = {
    ProposalState.OPEN: event_pb2.PROPOSAL_STATE_OPEN,
    ProposalState.APPROVED: event_pb2.PROPOSAL_STATE_APPROVED,
    ProposalState.DONE: event_pb2.PROPOSAL_STATE_DONE,
    ProposalState.FAILED: event_pb2.PROPOSAL_STATE_FAILED,
    ProposalState.UNKNOWN: event_pb2.PROPOSAL_STATE_UNKNOWN,
    ProposalState.REFUSED: event_pb2.PROPOSAL_STATE_REFUSED,
    ProposalState.EXPIRED: event_pb2.PROPOSAL_STATE_EXPIRED,
}
_PURPOSES: Final = {
    Purpose.TURN: usage_pb2.USAGE_PURPOSE_TURN,
    Purpose.COMPACTION: usage_pb2.USAGE_PURPOSE_COMPACTION,
    Purpose.SUBAGENT: usage_pb2.USAGE_PURPOSE_SUBAGENT,
    Purpose.IMPORT: usage_pb2.USAGE_PURPOSE_IMPORT,
    Purpose.MENTION: usage_pb2.USAGE_PURPOSE_MENTION,
}
_ROLES: Final = {
    Role.ROOT: service.AGENT_ROLE_ROOT,
    Role.CHILD: service.AGENT_ROLE_CHILD,
    Role.SUBAGENT: service.AGENT_ROLE_SUBAGENT,
    Role.GROUP: service.AGENT_ROLE_GROUP,
}


def timestamp(instant: datetime) -> Timestamp:
    """An aware instant."""
    made = Timestamp()
    made.FromDatetime(instant)
    return made


def instant(made: Timestamp) -> datetime:
    """An instant, UTC; one outside of what a calendar holds is its first or last."""
    try:
        return made.ToDatetime(tzinfo=UTC)
    except (ValueError, OverflowError):
        return datetime.min.replace(tzinfo=UTC) if made.seconds < 0 else datetime.max.replace(tzinfo=UTC)


def new_delivery(message: delivery_pb2.NewDelivery) -> NewDelivery:
    """What a caller hands over, with the contract's defaults filled in and its text made valid."""
    source = message.source or "user"
    if message.kind == delivery_pb2.DELIVERY_KIND_UNSPECIFIED:
        kind = Kind.USER if source == "user" else Kind.WORK
    else:
        kind = Kind.USER if message.kind == delivery_pb2.DELIVERY_KIND_USER else Kind.WORK
    return NewDelivery(
        key=message.key,
        to=message.to,
        source=source,
        kind=kind,
        text=clean(message.text),
        images=tuple(message.images),
        time=instant(message.time) if message.HasField("time") else None,
        wakes_root=message.wakes_root,
        reply_to=ReplyTo(
            chat=message.reply_to.chat, message=message.reply_to.message, topic=message.reply_to.topic
        ),
        backed=message.backed,
        group=message.group,
        group_count=message.group_count,
        former_source=message.former_source,
    )


def delivery(stored: Delivery) -> delivery_pb2.Delivery:
    """A stored delivery."""
    return delivery_pb2.Delivery(
        delivery_id=stored.id,
        key=stored.key,
        agent_id=stored.agent,
        source=stored.source,
        kind=_KINDS[stored.kind],
        state=_STATES[stored.state],
        turn=stored.turn or "",
        backed=stored.backed,
        wakes=stored.wakes,
        time=timestamp(stored.time),
        accept_time=timestamp(stored.accept_time),
    )


def delivery_state(value: delivery_pb2.DeliveryState) -> DeliveryState | None:
    """The state asked for; None when it is unspecified."""
    return next((state for state, number in _STATES.items() if number == value), None)


def event(kept: Event) -> event_pb2.Event:
    """A kept event."""
    made = event_pb2.Event(
        number=kept.number,
        agent_id=kept.agent,
        agent=kept.agent_name,
        audience=kept.audience,
        turn=kept.turn or "",
        time=timestamp(kept.time),
        generation=kept.generation,
    )
    _set_body(made, kept)
    return made


def _set_body(made: event_pb2.Event, kept: Event) -> None:
    match kept.body:
        case UserSaid() as said:
            made.user_message.CopyFrom(
                event_pb2.UserMessage(
                    delivery_id=said.delivery, key=said.key, text=said.text, images=said.images
                )
            )
        case OutsideCame() as came:
            made.outside_message.CopyFrom(
                event_pb2.OutsideMessage(
                    delivery_id=came.delivery,
                    key=came.key,
                    source=came.source,
                    text=came.text,
                    wakes=came.wakes,
                )
            )
        case TurnChanged() as change:
            made.turn_change.CopyFrom(
                event_pb2.TurnChange(
                    state=_PHASES[change.phase], answered=_answered(change.answered), reason=change.reason
                )
            )
        case Replied() as reply:
            made.reply.CopyFrom(event_pb2.Reply(text=reply.text, answered=_answered(reply.answered)))
        case PictureShown() as picture:
            made.image.CopyFrom(
                event_pb2.ShownImage(
                    image=picture.image, caption=picture.caption, answered=_answered(picture.answered)
                )
            )
        case ToolActive() as active:
            made.activity.CopyFrom(
                event_pb2.Activity(
                    call=active.call,
                    tool=active.tool,
                    summary=active.summary,
                    ended=active.ended,
                    outcome=active.outcome,
                )
            )
        case Noticed() as notice:
            made.notice.CopyFrom(event_pb2.Notice(text=notice.text, answered=_answered(notice.answered)))
        case ProposalChanged() as change:
            made.proposal.proposal.CopyFrom(_proposal(change, kept.agent, kept.agent_name))
        case _:
            assert_never(kept.body)


def _proposal(of: ProposalChanged | Proposal, agent_id: str, agent_name: str) -> event_pb2.Proposal:
    return event_pb2.Proposal(
        number=of.number,
        agent_id=agent_id,
        agent=agent_name,
        tool=of.tool,
        arguments=of.arguments,
        text=of.text,
        state=_PROPOSAL_STATES[of.state],
        expire_time=timestamp(of.expire_time),
        outcome=of.outcome,
    )


def proposal(stored: Proposal) -> event_pb2.Proposal:
    """A stored proposal."""
    return _proposal(stored, stored.agent, stored.agent_name)


def proposal_state(value: event_pb2.ProposalState) -> ProposalState | None:
    """The state asked for; None when it is unspecified."""
    return next((state for state, number in _PROPOSAL_STATES.items() if number == value), None)


def _answered(deliveries: tuple[Answered, ...]) -> list[event_pb2.Answered]:
    return [
        event_pb2.Answered(
            delivery_id=one.delivery,
            key=one.key,
            reply_to=delivery_pb2.ReplyTo(
                chat=one.reply_to.chat, message=one.reply_to.message, topic=one.reply_to.topic
            ),
        )
        for one in deliveries
    ]


def seen(stream: str, number: int, item: Event | Passing) -> service.SubscribeResponse:
    """What a subscriber is given."""
    response = service.SubscribeResponse(stream=stream, number=number)
    match item:
        case Event():
            response.event.CopyFrom(event(item))
        case TextCame():
            response.text.CopyFrom(
                event_pb2.TextDelta(
                    agent_id=item.agent,
                    turn=item.turn,
                    step=item.step,
                    offset=item.offset,
                    text=clean(item.text),
                )
            )
        case TextVoid():
            response.text_reset.CopyFrom(
                event_pb2.TextReset(agent_id=item.agent, turn=item.turn, step=item.step)
            )
        case CommandGiven():
            response.command.CopyFrom(event_pb2.CommandAnswer(line=item.line, answer=item.answer))
        case _:
            assert_never(item)
    return response


def usage(record: UsageRecord) -> usage_pb2.Usage:
    """A usage record."""
    return usage_pb2.Usage(
        agent_id=record.agent,
        agent=record.agent_name,
        day=record.day,
        model=record.model,
        purpose=_PURPOSES[record.purpose],
        calls=record.calls,
        input_tokens=record.input,
        cached_input_tokens=record.cached_input,
        output_tokens=record.output,
        reasoning_tokens=record.reasoning,
        cost_millionths=record.cost_millionths,
    )


def agent(found: AgentSeen) -> service.Agent:
    """An agent as clients see it."""
    return service.Agent(
        agent_id=found.id,
        name=found.name,
        role=_ROLES[found.role],
        area=found.area,
        model=found.model,
        effort=found.effort,
        doing=found.doing,
        waiting=found.waiting,
        last_turn_time=timestamp(found.last_turn.begin_time) if found.last_turn else None,
    )
