"""agent_create: what the model is told, and that its call's key is what tells a call that comes twice."""

from pathlib import Path

import pytest
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.children import ChildRefused, NewChild
from onechat_agent.domain.delivery import TurnId
from onechat_agent.tools.agent_create import AgentCreateTool
from onechat_agent.tools.tool import CallContext, Resumption, ToolResult
from onechat_runtime.errors import StoreFull


class Nursery:
    """Makes children by name alone, or fails as it is told; the same request gives the same child."""

    def __init__(self, fault: Exception | None = None, *, ready: bool = True) -> None:
        self.fault = fault
        self.ready = ready
        self.made: dict[str, NewChild] = {}

    async def create(self, name: str, area: str, *, request_id: str) -> NewChild:
        if self.fault is not None:
            raise self.fault
        return self.made.setdefault(request_id, NewChild(id=AgentId("h"), name=name, ready=self.ready))


async def run(nursery: Nursery, name: str = "House") -> ToolResult:
    context = CallContext(
        agent=AgentId("r"),
        agent_name="One",
        memory_of=AgentId("r"),
        turn=TurnId("t"),
        call_key="t:t:1:1",
        backed=True,
        tainted=False,
        hops=0,
        workdir=Path("/"),
    )
    return await AgentCreateTool(nursery).run(context, {"name": name, "responsibility": "The house"})


async def test_a_child_that_is_there_is_said_to_know_nothing_yet():
    result = await run(Nursery())

    assert result == ToolResult(text="House is there. It knows only its responsibility so far.")


async def test_one_that_is_still_being_made_is_no_failure():
    result = await run(Nursery(ready=False))

    assert result.text.startswith("House is made, and begins once")
    assert not result.failed


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (ChildRefused("The name House is taken."), "No child was made. The name House is taken."),
        (StoreFull(), "No child was made: the disk is full."),
    ],
)
async def test_what_was_not_made_says_so(fault, said):
    result = await run(Nursery(fault))

    assert result == ToolResult(text=said, failed=True)


async def test_a_call_that_is_made_again_asks_for_the_same_child():
    nursery = Nursery()

    await run(nursery)
    await run(nursery, name="Home")

    assert [child.name for child in nursery.made.values()] == ["House"]
    assert AgentCreateTool(nursery).resumption is Resumption.SAME_KEY
