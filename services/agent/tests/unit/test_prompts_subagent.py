"""What a subagent is told: who it is, what it sees, what ends its work; and how its own log is shown."""

from datetime import UTC, datetime
from pathlib import Path

from onechat_agent.domain.chat import Kind, Message, MessageId
from onechat_agent.prompts.subagent import left_out, log_text, opening_note, subagent_prompt
from onechat_agent.prompts.system import Head

TOOLS = ("zoom", "date", "shell", "read", "write", "edit")


def prompt(instructions: str = "") -> str:
    head = Head(
        name="House-2", instructions_file=Path("/a/instructions.md"), instructions=instructions, tools=TOOLS
    )
    return subagent_prompt(head, owner="House")


def message(text: str, *, number: int = 3, kind: Kind = Kind.ECHO) -> Message:
    return Message(
        id=MessageId(number),
        key="k",
        kind=kind,
        text=text,
        time=datetime(2026, 3, 5, tzinfo=UTC),
        zone="UTC",
        source="",
        turn="",
        step=0,
        call="",
        images=("0123456789abcdef.png",) if kind is Kind.USER else (),
        part=1,
        parts=1,
    )


def test_it_says_whose_it_is_what_its_task_is_and_what_becomes_of_its_last_reply():
    text = prompt()

    for said in (
        "You are House-2, a subagent of House",
        "Each call begins with the chat of House as a view",
        "- reply: what House said",
        "zoom` with id 40 and n 8",
        "An `[image FILE]` line stands for a stored picture",
        "The view is background",
        "task alone says what to do, whatever the user asked for last in the view",
        "`i|kind: text`",
        "the latest is what to answer",
        "it is your report",
        "| ",
    ):
        assert said in text, said


def test_it_says_nothing_about_what_it_does_not_have():
    text = prompt("Do it in verse.")

    for absent in ("spawn", "agent_create", "`tell`", "schedule", "Compaction", "instructions.md", "route"):
        assert absent not in text, absent


def test_its_owners_instructions_end_it_and_only_then_it_points_to_them():
    with_text, without = prompt(" Always answer in verse.\n"), prompt(" \n")

    assert with_text.endswith("# Instructions from the user\n\nAlways answer in verse.")
    assert "instructions at the end of this prompt" in with_text
    assert "instructions at the end" not in without
    assert "Instructions from the user" not in without


def test_no_braces_are_left_in_it():
    assert "{" not in prompt("x")


def test_its_log_shows_each_message_by_number_and_kind_with_its_pictures():
    note = message(opening_note("House-2", "House"), number=0, kind=Kind.NOTE)
    task = message("look at this", number=1, kind=Kind.USER)

    shown = log_text([(note, note.text), (task, task.text)])

    assert shown == (
        f"<log>\n0|note: {note.text}\n1|user: look at this\n[image 0123456789abcdef.png]\n</log>"
    )


def test_a_long_result_is_left_out_with_how_to_see_it_and_a_short_one_stays():
    assert left_out(message("x" * 5_000), "House-2") == (
        "(left out, 5,000 characters: zoom with name House-2, id 3 and n 1 shows it)"
    )
    assert left_out(message("zoomed 40+8"), "House-2") == "zoomed 40+8"
