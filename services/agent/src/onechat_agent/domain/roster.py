"""Who is there and what each does now, for people. Pure: the time is an argument.

Who is there: agents.py. The same for other programs: ListAgents.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from onechat_agent.domain.agent import Role
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.text import one_line
from onechat_agent.domain.turn import TurnState

_AREA_MAX: Final = 80  # characters
_HOW: Final = {TurnState.STOPPED: ", stopped", TurnState.FAILED: ", failed"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LastTurn:
    """The newest turn of an agent."""

    begin_time: datetime
    state: TurnState


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSeen:
    """An agent as clients see it."""

    id: AgentId
    name: str
    role: Role
    area: str  #: a child's area, a subagent's task
    model: str
    effort: str
    doing: str
    waiting: int  #: deliveries that are not done
    last_turn: LastTurn | None


def roster(agents: Iterable[AgentSeen], now: datetime) -> str:
    """A line an agent: what it is, what it does, what waits for it, its last turn."""
    return "\n".join(
        f"{_who(agent)}: {agent.doing}, {agent.waiting} waiting, {_last_turn(agent.last_turn, now)}"
        for agent in agents
    )


def _who(agent: AgentSeen) -> str:
    area = f": {one_line(agent.area, _AREA_MAX)}" if agent.area else ""
    return f"{agent.name} ({agent.role}{area})"


def _last_turn(last: LastTurn | None, now: datetime) -> str:
    if last is None:
        return "no turn yet"
    if last.state is TurnState.BEGUN:
        return f"turn since {_span(last.begin_time, now)}"
    return f"last turn {_span(last.begin_time, now)} ago{_HOW.get(last.state, '')}"


def _span(time: datetime, now: datetime) -> str:
    """How long ago `time` was, in its largest unit; none for a clock that was set back."""
    seconds = max(int((now - time).total_seconds()), 0)
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{seconds // length} {unit}"
    return f"{seconds} s"
