"""At which steps of the agent and of the memory service a household is struck, and how often at each.

A step's name is that of five_services_points.py. Which ones a household passes is counted in a run
(five_services_census.py), and which commits there are is read from the source: both must agree with these
lists. The points of one step are spread over all its passes. Several points share a run of the household.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tests.fakes.five_services_points import ANSWER, APPEND, COMMIT_OF, CREATE_LOG, Point

KILLS_MAX: Final = 4  # of one run: each is far from the others, and what it does wrong is told apart


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A household that is struck at points, one after the other; all are of one service."""

    at: tuple[Point, ...]  #: each counted from the start of its process, which the one before has begun
    alone: tuple[Point, ...] = ()  #: the same as points of a run each, should this one miss some

    @classmethod
    def of(cls, *at: Point) -> "Run":
        """A run that cannot be taken apart."""
        return cls(at=at)

    @property
    def name(self) -> str:
        """For people."""
        return ", then ".join(point.words for point in self.at)


AGENT: Final[Mapping[str, int]] = {  #: step: how many points of it
    APPEND: 5,
    ANSWER: 5,
    CREATE_LOG: 2,
    f"{COMMIT_OF}onechat_agent.root_folder.open_root": 1,
    f"{COMMIT_OF}onechat_agent.assembly.assemble": 1,
    f"{COMMIT_OF}onechat_agent.housed.open_all": 2,
    f"{COMMIT_OF}onechat_agent.children.create": 2,
    f"{COMMIT_OF}onechat_agent.lives.live": 2,
    f"{COMMIT_OF}onechat_agent.queue.accept": 3,
    f"{COMMIT_OF}onechat_agent.queue.done_without_turn": 1,
    f"{COMMIT_OF}onechat_agent.turn_store.begin": 5,
    f"{COMMIT_OF}onechat_agent.turn_store.step": 4,
    f"{COMMIT_OF}onechat_agent.turn_store.join": 1,
    f"{COMMIT_OF}onechat_agent.turn_store.end": 5,
    f"{COMMIT_OF}onechat_agent.stops.stop": 1,
    f"{COMMIT_OF}onechat_agent.subagents.spawn": 1,
    f"{COMMIT_OF}onechat_agent.subagents.live": 3,
    f"{COMMIT_OF}onechat_agent.tells.tell": 3,
    f"{COMMIT_OF}onechat_agent.routes.set": 2,
    f"{COMMIT_OF}onechat_agent.routes.remove": 1,
    f"{COMMIT_OF}onechat_agent.proposals.propose": 1,
    f"{COMMIT_OF}onechat_agent.proposals.answer": 1,
    f"{COMMIT_OF}onechat_agent.proposals.over": 1,
    f"{COMMIT_OF}onechat_agent.showing.show": 1,
}
MEMORY: Final[Mapping[str, int]] = {
    f"{COMMIT_OF}onechat_memory.chat_logs.create": 3,
    f"{COMMIT_OF}onechat_memory.joined_appends.append": 6,
    f"{COMMIT_OF}onechat_memory.images.put": 1,
}
# What is done beside the household's work: whether and when is not its doing, so no count finds it for sure.
BESIDE: Final = (
    f"{COMMIT_OF}onechat_agent.events.forget_old",
    f"{COMMIT_OF}onechat_agent.usage_book.record_alone",
    f"{COMMIT_OF}onechat_memory.chat_logs.complete",
    f"{COMMIT_OF}onechat_memory.chat_logs.fitted_view",
    f"{COMMIT_OF}onechat_memory.indexing.run",
    f"{COMMIT_OF}onechat_memory.indexing.step",
    f"{COMMIT_OF}onechat_memory.log_changes.load",
    f"{COMMIT_OF}onechat_memory.removing.run",
    f"{COMMIT_OF}onechat_scheduler.zone_in_force.follow",
    f"{COMMIT_OF}onechat_whatsapp.adapters.send_rows.give_up_interrupted",
    f"{COMMIT_OF}onechat_whatsapp.batching._release",
    f"{COMMIT_OF}onechat_whatsapp.batching._round",
    f"{COMMIT_OF}onechat_whatsapp.link.change",
)
# A service that is struck once more as it takes up what the first strike has interrupted.
TWICE: Final = tuple(
    Run.of(
        Point(step=ANSWER, side="after", nth=nth),
        Point(step=f"{COMMIT_OF}onechat_agent.turn_store.resume", side=side, nth=1),
    )
    for nth in (1, 5, 9)
    for side in ("before", "after")
)
OTHERS: Final = {  #: public functions that lead to a commit and that no household passes by that name
    "patience.committed": "hands on what others give it",
    "lives.of": "commits in lives.live",
    "subagents.open_unfinished": "commits in subagents.live",
    "subagents.wake": "commits in subagents.live",
    "turn.run": "commits in turn_store.end",
    "turn_ends.by_stop": "commits in turn_store.end",
    "turn_store.ask_stop": "needs a stop that comes from within the service",
    "turn_store.resume": "TWICE",
    "turn_store.roll_over": "test_crash_points.py",
    "own_log.shortened": "needs a long log",
    "proposals.expire": "needs a day",
    "departures.remove": "needs somebody who removes a folder",
    "day_limit.tell": "needs a day's tokens",
    "day_limit.ending": "needs a day's tokens",
    "groups.create": "needs a group: the agent's own test_group_agents.py",
    "resets.reset": "needs a group: the agent's own test_group_resets.py",
    "loop.between_turns": "the same",
    "notices.tell": "needs a gateway that has something to tell: the agent's own test_notices.py",
    "telling.memory_away": "needs a memory that is away",
    "telling.notice": "needs a fault",
    "telling.unreachable": "needs a model that is away",
}
QUICK: Final = (  #: those that every run of the tests passes
    Point(step=f"{COMMIT_OF}onechat_agent.children.create", side="before", nth=2),
    Point(step=CREATE_LOG, side="after", nth=2),
    Point(step=f"{COMMIT_OF}onechat_agent.routes.set", side="after", nth=1),
    Point(step=f"{COMMIT_OF}onechat_agent.subagents.spawn", side="after", nth=1),
    Point(step=ANSWER, side="after", nth=8),
    Point(step=f"{COMMIT_OF}onechat_agent.tells.tell", side="after", nth=2),
    Point(step=f"{COMMIT_OF}onechat_agent.turn_store.end", side="after", nth=5),
    Point(step=f"{COMMIT_OF}onechat_agent.proposals.answer", side="after", nth=1),
    Point(step=f"{COMMIT_OF}onechat_memory.joined_appends.append", side="after", nth=12),
    Point(step=f"{COMMIT_OF}onechat_memory.chat_logs.create", side="before", nth=3),
)


def service_of(point: Point) -> str:
    """The service that passes it."""
    return "memory" if f"{COMMIT_OF}onechat_memory." in point.step else "agent"


def points(wanted: Mapping[str, int], passed: Counter[str]) -> list[Point]:
    """Both sides of `wanted` points of each step, spread over as many passes as `passed` has of it."""
    return [
        Point(step=step, side=side, nth=nth)
        for step, number in wanted.items()
        for nth in _spread(number, passed[step])
        for side in ("before", "after")
    ]


def in_runs(wanted: Sequence[Point], passes: Sequence[str]) -> list[Run]:
    """All points of `wanted` in few runs, those of one run far apart; those of ANSWER have a run each.

    `passes` are the steps of an undisturbed run in their order, where each point is counted from its start.
    An answer may be held for long and is asked for again after a strike, so its place there tells nothing.
    """
    found = [Run.of(point) for point in wanted if point.step == ANSWER]
    places: dict[str, list[int]] = defaultdict(list)
    for place, step in enumerate(passes):
        places[step].append(place)
    for service in sorted({service_of(point) for point in wanted}):
        mine = [point for point in wanted if service_of(point) == service and point.step != ANSWER]
        mine.sort(key=lambda point: (places[point.step][point.nth - 1], point.side == "after"))
        runs = -(-len(mine) // KILLS_MAX)
        found += [_one_after_the_other(mine[first::runs], places) for first in range(runs)]
    return found


def _one_after_the_other(wanted: Sequence[Point], places: Mapping[str, Sequence[int]]) -> Run:
    """These points, in their order, as one run: what was passed before the last strike does not count."""
    at: list[Point] = []
    struck_at = -1
    for point in wanted:
        of_step = places[point.step]
        at.append(replace(point, nth=max(point.nth - bisect_right(of_step, struck_at), 1)))
        struck_at = of_step[point.nth - 1]
    return Run(at=tuple(at), alone=tuple(wanted))


def _spread(wanted: int, passes: int) -> list[int]:
    """`wanted` numbers from 1 to `passes`, or somewhat less: many that wait together may pass at once."""
    last = passes - passes // 10
    if wanted == 1 or last == 1:
        return [1]
    return sorted({1 + round(place * (last - 1) / (wanted - 1)) for place in range(wanted)})
