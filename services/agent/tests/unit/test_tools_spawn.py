"""spawn: what it asks for, what it answers, and what it refuses before anybody is made."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from onechat_agent.domain.arguments import Fitting, Unfitting, parse_arguments
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.delivery import HOPS_MAX, TurnId
from onechat_agent.tools.spawn import TASKS_MAX, SpawnTool
from onechat_agent.tools.tool import CallContext, ToolResult

CONTEXT = CallContext(
    agent=AgentId("root"),
    agent_name="One",
    memory_of=AgentId("root"),
    turn=TurnId("1"),
    call_key="t:1:1:1",
    backed=True,
    tainted=False,
    hops=0,
    workdir=Path("/"),
)


@dataclass
class Made:
    names: Sequence[str]
    in_line: Sequence[str]


@dataclass
class Spawning:
    """Has a place for `places` of those that are asked for, and keeps what was asked."""

    places: int = 8
    asked: list[tuple[tuple[str, ...], str | None]] = field(default_factory=list)

    async def spawn(self, context: CallContext, tasks: Sequence[str], effort: str | None) -> Made:
        self.asked.append((tuple(tasks), effort))
        names = [f"{context.agent_name}-{number}" for number in range(1, len(tasks) + 1)]
        return Made(names=names, in_line=names[self.places :])


async def spawn(spawning: Spawning, *tasks: str, hops: int = 0) -> ToolResult:
    context = replace(CONTEXT, hops=hops)
    return await SpawnTool(spawning).run(context, {"tasks": list(tasks), "effort": None})


async def test_it_answers_with_the_names_at_once():
    spawning = Spawning()

    result = await spawn(spawning, "count the files", "count the lines")

    assert result.text.startswith("At work: One-1, One-2. Each reports by a message")
    assert spawning.asked == [(("count the files", "count the lines"), None)]


@pytest.mark.parametrize(
    ("places", "said"),
    [
        (1, "At work: One-1. In line: One-2, which waits until others are done."),
        (0, "In line: One-1, One-2, which wait until others are done."),
    ],
)
async def test_it_says_who_waits_for_a_place(places: int, said: str):
    result = await spawn(Spawning(places=places), "a", "b")

    assert result.text.startswith(said)


@pytest.mark.parametrize(
    ("tasks", "hops", "said"),
    [
        ([], 0, f"spawn takes 1 to {TASKS_MAX} tasks"),
        (["a"] * (TASKS_MAX + 1), 0, f"spawn takes 1 to {TASKS_MAX} tasks"),
        (["a", " \n"], 0, "A task is empty"),
        (["ä" * 50_001], 0, "over 100,000 bytes"),
        (["a"], HOPS_MAX - 1, "passed this on to each other too often"),
    ],
)
async def test_what_cannot_be_a_task_starts_nobody(tasks: list[str], hops: int, said: str):
    spawning = Spawning()

    result = await spawn(spawning, *tasks, hops=hops)

    assert said in result.text
    assert "obody was started" in result.text
    assert result.failed
    assert spawning.asked == []


def test_its_schema_takes_an_effort_or_null_and_nothing_else():
    parameters = SpawnTool.schema["parameters"]

    fine = parse_arguments('{"tasks": ["a"], "effort": null}', parameters)
    hard = parse_arguments('{"tasks": ["a"], "effort": "xhigh"}', parameters)
    wrong = parse_arguments('{"tasks": ["a"], "effort": "max"}', parameters)
    odd = parse_arguments('{"tasks": "a", "effort": null}', parameters)

    assert isinstance(fine, Fitting)
    assert isinstance(hard, Fitting)
    assert isinstance(wrong, Unfitting)
    assert "one of low, medium, high, xhigh, null" in wrong.why
    assert isinstance(odd, Unfitting)


def test_its_description_says_that_a_task_must_say_all():
    assert "let the task say all of it" in SpawnTool.schema["description"]


def test_its_summary_names_the_tasks_in_a_line():
    summary = SpawnTool(Spawning()).summary(
        {"tasks": ["count\nthe files", "read " + "x" * 100], "effort": None}
    )

    assert summary.startswith("spawn: count the files; read xxx")
    assert len(summary) < 140
