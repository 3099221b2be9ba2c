"""Of other agents than the one that the user talks to, what is printed says whose it is."""

from datetime import UTC, datetime

from onechat_cli.domain.happening import Event, Noticed, Outside, TurnChanged, TurnState
from onechat_cli.domain.transcript import Transcript

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def printed(*bodies: Noticed | Outside | TurnChanged, agent_id: str = "h") -> list[str]:
    """The lines that come of what is told of the child House, or of another agent, in one turn."""
    transcript = Transcript(root_id="root")
    events = (
        Event(number=number, agent_id=agent_id, agent="House", turn="t", time=NOW, body=body)
        for number, body in enumerate(bodies, start=1)
    )
    return [line.text for event in events for line in transcript.fold(event)]


def test_a_notice_names_the_child_that_it_is_about_and_is_said_once():
    """A child whose day is used up must not look like the agent that the user talks to."""
    said = "Today's limit is used up."

    lines = printed(Noticed(text=said), TurnChanged(state=TurnState.FAILED, reason=said))

    assert lines == [f"[House] {said}"]


def test_a_schedules_run_is_named_once_and_a_childs_with_the_child():
    """Its text begins with its schedule; the source would only say so again."""
    run = Outside(source="schedule:3", text="[Schedule 3] water the plants")

    assert printed(run) == ["to House", "[Schedule 3] water the plants"]
    assert printed(run, agent_id="root") == ["[Schedule 3] water the plants"]
