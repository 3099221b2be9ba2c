"""Waiting for a view: an agent's own until it is whole, its owner's for a while."""

import asyncio
import random
from dataclasses import dataclass, field
from typing import Any, cast

from onechat_agent.domain.chat import AgentId, View
from onechat_agent.patience import Patience
from onechat_agent.seat import Seat
from onechat_agent.views import OTHERS_WAITS, Views

from tests.fakes.clock import ManualClock


@dataclass
class Unbuilt:
    """A memory whose view is whole once it was asked for so often; each answer is a whole wait."""

    whole_after: int
    asked: list[AgentId] = field(default_factory=list)

    async def view(self, log: AgentId, wait_s: float) -> View:
        self.asked.append(log)
        whole = len(self.asked) > self.whole_after
        return View(text="<chat>", length=len(self.asked), whole=whole, generation=1)


class Building:
    """A compactor that never fails for good."""

    def try_now(self) -> None:
        """It is at work anyhow."""

    async def lasting_failure(self) -> None:
        await asyncio.Event().wait()


class NoLimit:
    """A day without end."""

    def holds_lines(self, seat: Seat) -> bool:
        return False


@dataclass(frozen=True)
class Someone:
    """As much of a seat as a view needs."""

    id: AgentId
    owner: "Someone | None" = None

    @property
    def view_of(self) -> "Someone":
        return self.owner or self


ROOT = Someone(AgentId("root"))
SUBAGENT = Someone(AgentId("sub"), owner=ROOT)


def views(memory: Unbuilt) -> Views:
    parts: Any = (memory, Building(), NoLimit(), Patience(ManualClock(), random.Random(1)), None)
    return Views(*parts)


async def test_an_agent_waits_for_its_own_lines_however_long_it_takes():
    memory = Unbuilt(whole_after=OTHERS_WAITS + 5)

    view = await views(memory).whole(cast(Seat, ROOT))

    assert view.whole


async def test_a_subagent_reads_its_owners_view():
    memory = Unbuilt(whole_after=1)

    view = await views(memory).whole(cast(Seat, SUBAGENT))

    assert view.whole
    assert memory.asked == ["root", "root"]


async def test_a_subagent_does_not_wait_for_an_owner_who_says_more_and_more():
    """Else it could not begin before the owner's turn ends, whose work it is to do meanwhile."""
    memory = Unbuilt(whole_after=1_000)

    view = await views(memory).whole(cast(Seat, SUBAGENT))

    assert not view.whole
    assert len(memory.asked) == OTHERS_WAITS
