"""What people read of who is there."""

from datetime import UTC, datetime, timedelta

from onechat_agent.domain.agent import Role
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.roster import AgentSeen, LastTurn, roster
from onechat_agent.domain.turn import TurnState

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def seen(name: str, role: Role, **about: object) -> AgentSeen:
    given = {"area": "", "doing": "idle", "waiting": 0, "last_turn": None, "model": "m", "effort": "low"}
    return AgentSeen(id=AgentId(name), name=name, role=role, **{**given, **about})  # type: ignore[arg-type]


def turn(ago: timedelta, state: TurnState = TurnState.ENDED) -> LastTurn:
    return LastTurn(begin_time=NOW - ago, state=state)


def test_each_agent_is_a_line_with_what_it_does_what_waits_and_its_last_turn() -> None:
    agents = [
        seen(
            "One",
            Role.ROOT,
            doing="thinking",
            waiting=2,
            last_turn=turn(timedelta(seconds=7), TurnState.BEGUN),
        ),
        seen("One-3", Role.SUBAGENT, area="count the\nbooks", last_turn=turn(timedelta(minutes=90))),
        seen("House", Role.CHILD, area="the house", last_turn=turn(timedelta(days=3), TurnState.FAILED)),
        seen("Garden", Role.CHILD, last_turn=turn(timedelta(minutes=2), TurnState.STOPPED)),
        seen("Books", Role.CHILD),
    ]

    assert roster(agents, NOW).splitlines() == [
        "One (root): thinking, 2 waiting, turn since 7 s",
        "One-3 (subagent: count the books): idle, 0 waiting, last turn 1 h ago",
        "House (child: the house): idle, 0 waiting, last turn 3 d ago, failed",
        "Garden (child): idle, 0 waiting, last turn 2 min ago, stopped",
        "Books (child): idle, 0 waiting, no turn yet",
    ]


def test_a_long_area_is_cut_and_a_clock_that_was_set_back_counts_as_now() -> None:
    agent = seen("House", Role.CHILD, area="a" * 500, last_turn=turn(timedelta(hours=-5)))

    line = roster([agent], NOW)

    assert len(line) < 150
    assert line.endswith("last turn 0 s ago")
