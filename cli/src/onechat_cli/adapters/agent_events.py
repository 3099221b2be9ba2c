"""From the contract's events to the values that a client folds; what is not known here is dropped."""

from collections.abc import Iterable
from datetime import UTC

from onechat.agent.v1 import agent_service_pb2, event_pb2

from onechat_cli.domain.happening import (
    Acted,
    Body,
    Commanded,
    Event,
    Heard,
    Item,
    Noticed,
    Opened,
    Outside,
    Pictured,
    Place,
    Proposed,
    Replied,
    Said,
    TextCame,
    TextVoid,
    TurnChanged,
    TurnState,
)

_STATES = {
    event_pb2.TurnChange.STATE_BEGUN: TurnState.BEGUN,
    event_pb2.TurnChange.STATE_RESUMED: TurnState.RESUMED,
    event_pb2.TurnChange.STATE_ENDED: TurnState.ENDED,
    event_pb2.TurnChange.STATE_STOPPED: TurnState.STOPPED,
    event_pb2.TurnChange.STATE_FAILED: TurnState.FAILED,
}


def heard_from_proto(response: agent_service_pb2.SubscribeResponse) -> Heard | None:
    """What `response` says; None for a kind of item that a newer service may send."""
    item = _item(response)
    if item is None:
        return None
    return Heard(place=Place(stream=response.stream, number=response.number), item=item)


def _item(response: agent_service_pb2.SubscribeResponse) -> Item | None:
    match response.WhichOneof("item"):
        case "event":
            return _event(response.event)
        case "text":
            text = response.text
            return TextCame(
                agent_id=text.agent_id, turn=text.turn, step=text.step, offset=text.offset, text=text.text
            )
        case "text_reset":
            reset = response.text_reset
            return TextVoid(agent_id=reset.agent_id, turn=reset.turn, step=reset.step)
        case "command":
            return Commanded(line=response.command.line, answer=response.command.answer)
        case "ready":
            return Opened()
        case _:
            return None


def _event(event: event_pb2.Event) -> Event | None:
    body = _body(event)
    if body is None:
        return None
    return Event(
        number=event.number,
        agent_id=event.agent_id,
        agent=event.agent,
        turn=event.turn,
        time=event.time.ToDatetime(tzinfo=UTC),
        body=body,
    )


def _body(event: event_pb2.Event) -> Body | None:  # one arm for each kind of event
    match event.WhichOneof("body"):
        case "user_message":
            said = event.user_message
            return Said(key=said.key, text=said.text, images=len(said.images))
        case "outside_message":
            return Outside(source=event.outside_message.source, text=event.outside_message.text)
        case "turn_change":
            return _turn_changed(event.turn_change)
        case "reply":
            return Replied(text=event.reply.text, answered=_keys(event.reply.answered))
        case "image":
            return Pictured(image=event.image.image, caption=event.image.caption)
        case "activity":
            acted = event.activity
            return Acted(
                call=acted.call,
                summary=acted.summary or acted.tool,
                ended=acted.ended,
                outcome=acted.outcome,
            )
        case "notice":
            return Noticed(text=event.notice.text, answered=_keys(event.notice.answered))
        case "proposal":
            return proposed_from_proto(event.proposal.proposal)
        case _:
            return None


def _turn_changed(change: event_pb2.TurnChange) -> TurnChanged | None:
    state = _STATES.get(change.state)
    if state is None:
        return None
    return TurnChanged(state=state, answered=_keys(change.answered), reason=change.reason)


def _keys(answered: Iterable[event_pb2.Answered]) -> tuple[str, ...]:
    return tuple(one.key for one in answered)


def proposed_from_proto(proposal: event_pb2.Proposal) -> Proposed:
    """A proposal, whole."""
    name = event_pb2.ProposalState.Name(proposal.state) if proposal.state in _KNOWN else "of a newer version"
    return Proposed(
        number=proposal.number,
        text=proposal.text,
        state=name.removeprefix("PROPOSAL_STATE_").lower(),
        outcome=proposal.outcome,
    )


_KNOWN = frozenset(event_pb2.ProposalState.values())
