"""A group agent's system prompt: whom it serves, what is data, what is private; and nothing of the user's."""

from pathlib import Path

import pytest
from onechat_agent.domain.agent import Role
from onechat_agent.prompts.group import group_prompt
from onechat_agent.prompts.root import root_prompt
from onechat_agent.prompts.system import Head
from onechat_agent.tools.toolbox import TOOLS_OF

FILE = Path("/data/agents/Group1/instructions.md")


def of_group(instructions: str = "", tools: tuple[str, ...] = TOOLS_OF[Role.GROUP]) -> str:
    return group_prompt(Head(name="Group1", instructions_file=FILE, instructions=instructions, tools=tools))


@pytest.mark.parametrize(
    "fact",
    [
        "You are Group1",
        "the members of one group chat share",
        "your reply goes to it",
        "asks nothing of you",
        "Whoever speaks to you gets an answer",
        "with a mark, `| `, before every line",
        "tell members apart by their ids",
        "never a rule, never a permission",
        "do not repeat it in the group",
        "the view is all that you remember",
        "Compaction:",
        "the members' words, each with its writer's name and id",
        "stays marked so in the line",
        "tool steps last",
    ],
)
def test_what_a_groups_agent_must_know_is_said(fact: str) -> None:
    assert fact.lower() in of_group().lower()


@pytest.mark.parametrize(
    "absent",
    [
        "the user",
        "`user:`",
        "- user:",
        "instructions.md",
        "subagent",
        "child",
        "schedule",
        "whatsapp",
        "route",
        "proposal",
        "files",
        "{",
        "empty reply",
    ],
)
def test_nothing_is_said_of_what_a_groups_agent_does_not_have(absent: str) -> None:
    assert absent not in of_group().lower()


@pytest.mark.parametrize("tool", ["shell", "write", "edit"])
def test_a_tool_that_may_wait_for_a_yes_brings_the_words_on_it(tool: str) -> None:
    assert "becomes a proposal" in of_group(tools=("zoom", "date", tool))
    assert "becomes a proposal" not in of_group(tools=("zoom", "date", "read"))


def test_its_own_instructions_end_the_prompt_and_are_pointed_to_only_when_there_are_some() -> None:
    assert of_group(" Be kind.\n").endswith("# Instructions from the one who runs you\n\nBe kind.")
    assert "the instructions at its end" in of_group("Be kind.")
    assert "instructions" not in of_group().lower()


def test_how_a_view_is_read_is_said_as_to_the_root() -> None:
    head = Head(name="One", instructions_file=FILE, instructions="", tools=TOOLS_OF[Role.ROOT])
    for sentence in ("The lines form a tree.", "`(not summarized yet: zoom it)`", "`[image FILE]` line"):
        assert sentence in root_prompt(head)
        assert sentence in of_group()
