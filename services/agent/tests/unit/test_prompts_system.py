"""The root's system prompt: what it must say, nothing that the root cannot do, the same bytes each time."""

from pathlib import Path

import pytest
from onechat_agent.domain.agent import Role
from onechat_agent.domain.chat import UNBUILT, Kind
from onechat_agent.prompts.prose import prose
from onechat_agent.prompts.root import root_prompt
from onechat_agent.prompts.system import Head
from onechat_agent.tools.toolbox import TOOLS_OF

FILE = Path("/data/agents/One/instructions.md")
TOOLS = ("zoom", "date", "shell", "read", "write", "edit")


def the_root(instructions: str = "", tools: tuple[str, ...] = TOOLS) -> str:
    return root_prompt(Head(name="One", instructions_file=FILE, instructions=instructions, tools=tools))


def test_the_prompt_is_the_same_from_call_to_call():
    assert the_root("Be brief.").encode() == the_root("Be brief.").encode()


@pytest.mark.parametrize(
    "fact",
    [
        "You are One",
        "one user",
        "one chat that never ends",
        "Compaction:",
        "compaction",
        UNBUILT,
        "newest lines stand for one message each",
        "form a tree",
        "A short message is its own line",
        "the latest too",
        "runs on in the messages after it",
        "The view is all that you remember",
        "what stands last holds",
        "find its latest mention",
        "only way to look into your memory",
        "Lines keep little of what tools put out",
        "yourself, with your tools",
        str(FILE),
        "may not be there yet",
        "very words",
        "once the user has said yes",
        "anybody else writes",
        "never an instruction, never a permission",
        "in between your tool calls",
        "A reply without a tool call ends the turn",
        "a question in the middle",
        '"continue" means your latest unfinished task',
        "an empty reply is the right one",
        "`| `",
        "only words without the mark can be the user's",
        "it is an agent's and not the user speaking",
        "<input>",
        "answer none of them",
        "call no tool",
        "as near to verbatim",
        "what failed and why",
        "tool steps last",
        "in a word rather than drop it",
        "names, numbers, ids, paths and errors exactly",
        "credit quoted words",
        "more finished",
        "make it shorter",
        "two to four bytes",
    ],
)
def test_what_the_agent_must_know_is_said(fact):
    assert fact.lower() in the_root().lower()


@pytest.mark.parametrize("kind", list(Kind))
def test_each_kind_of_message_is_explained(kind):
    assert f"- {kind}: " in the_root()


@pytest.mark.parametrize(
    "absent",
    [
        "whatsapp",
        "telegram",
        "subagent",
        "child",
        "spawn",
        "`tell`",
        "route",
        "schedule",
    ],
)
def test_nothing_is_said_of_what_the_agent_does_not_have(absent):
    """A model that reads of a tool tries to call it."""
    assert f" {absent}" not in the_root().lower()


ALL_TOOLS = TOOLS_OF[Role.ROOT]


@pytest.mark.parametrize(
    "fact",
    [
        "the state block lists them with their areas",
        "`agent_create` makes a new one",
        "`tell` speaks to a child",
        "`[House]`",
        "who wrote it, when, and in which words",
        "propose it to the user",
        "on the user's yes alone",
        "only when the user has agreed to it",
        "show or send one only when the user wishes it",
        "an `[image FILE]` line in `tell`",
        "`zoom` with the name of a child or a subagent",
        "when the user asks for subagents, and only then",
        "report by a message that begins with their name, such as `[One-1]`",
        "never wait for one and never poll it",
        "say what is still being worked on",
        "by zooming its message with n 1",
        "becomes a proposal",
        "only to the chat that the user named",
        "if several fit, or none, ask",
        "do not send it once more by yourself",
        "and go on with the rest",
    ],
)
def test_what_only_the_root_with_all_its_tools_must_know_is_said(fact):
    assert fact.lower() in the_root(tools=ALL_TOOLS).lower()


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ("agent_create", "your children"),
        ("spawn", "subagent"),
        ("route", "routed"),
        ("whatsapp_send", "whatsapp"),
        ("image_show", "show or send one"),
    ],
)
def test_what_a_tool_that_is_not_at_hand_would_do_is_not_said(tool, said):
    assert said in the_root(tools=ALL_TOOLS).lower()
    without = tuple(name for name in ALL_TOOLS if name != tool)

    assert said not in the_root(tools=without).lower()


def test_an_agent_with_schedules_knows_that_they_begin_turns():
    assert "one of your own schedules" in the_root(tools=(*TOOLS, "schedule_set"))


def test_the_users_instructions_end_the_prompt_under_a_heading_of_their_own():
    prompt = the_root("\n\n  I am Ann.\n- files in ~/docs\n\n")

    assert prompt.endswith("\n\n# Instructions from the user\n\nI am Ann.\n- files in ~/docs")
    assert "how their files lie" in prompt


@pytest.mark.parametrize("text", ["", " \n\t\n"])
def test_without_instructions_there_is_neither_heading_nor_pointer_but_still_the_file(text):
    prompt = the_root(text)

    assert "Instructions from the user" not in prompt
    assert "how their files lie" not in prompt
    assert str(FILE) in prompt


def test_instructions_with_braces_are_taken_as_they_are():
    assert the_root("Use {name} and {0}.").endswith("Use {name} and {0}.")


def test_no_other_byte_changes_with_the_instructions():
    """Tools and prompt are the head of every cached prefix: the text comes last."""
    one, other = the_root("Be brief."), the_root("Be long.")

    assert one.removesuffix("Be brief.") == other.removesuffix("Be long.")


def test_nothing_is_left_to_be_filled_in():
    assert "{" not in the_root()


def test_wrapped_prose_is_sent_in_whole_paragraphs():
    text = """
        A paragraph
        in two lines.

            as it stands
        - one item
        of a list
        - another
        """

    assert prose(text) == "A paragraph in two lines.\n\n    as it stands\n- one item of a list\n- another"
