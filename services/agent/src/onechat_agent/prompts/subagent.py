"""What a subagent is told: its system prompt, the note that its log begins with, how that log is shown. Pure.

It sees its owner's view as background and then its own log whole. The sections that it shares with others:
sections.py. What is left out of a log that has grown long: own_log.py of the package.
"""

from collections.abc import Iterable
from typing import Final

from onechat_agent.domain.chat import Message
from onechat_agent.prompts import sections
from onechat_agent.prompts.prose import prose
from onechat_agent.prompts.system import Head

SUBAGENT: Final = prose(
    """
    You are {name}, a subagent of {owner}, an agent that works for one user. {owner} has given you a task: do
    it with your tools, and report. You have no chat with the user.
    """
)

BACKGROUND: Final = prose(
    """
    # What you see

    Each call begins with the chat of {owner} as a view, between <chat> and </chat>, the oldest lines first:
    """
)
TASK: Final = prose(
    """
    The view is background, so that you know what {owner} knows: find in it what your task leaves out, and
    zoom into it before you guess. Never search for it in files, with commands or by any other means. Your
    task alone says what to do, whatever the user asked for last in the view: {owner} does that.

    After the view comes a state block with what is true now, such as the time, and then your own chat, all
    of it, between <log> and </log>, each message as `i|kind: text`. It begins with a note on what you are;
    `user` in it is {owner}, who speaks for the user. What came in just now stands after it, each message
    after its kind. When it has grown long, the oldest results of your tools are left out, and a line says
    how to zoom them.
    """
)
WORK: Final = prose(
    """
    # Your work

    Go on until the task is done, or until you cannot go on without an answer.{pointer} {owner} may tell you
    more, also while you are at work: it comes in between your tool calls, and the latest is what to answer.

    A reply without a tool call ends your work, and it is your report: {owner} gets that one reply and sees
    nothing else of what you did. So say in it all that {owner} needs: what you found and where, names and
    numbers, what you changed, what failed and why, what is still open. Before you say that something is
    done, see that it is. Never end with a promise to do something afterwards: do it first.
    """
)


def subagent_prompt(head: Head, *, owner: str) -> str:
    """The prompt of a subagent of the agent named `owner`, whose instructions end it."""
    instructions = head.instructions.strip()
    parts = [
        SUBAGENT.format(name=head.name, owner=owner),
        BACKGROUND.format(owner=owner),
        sections.EXAMPLE,
        sections.READING.replace("{you}", owner),
        TASK.format(owner=owner),
        WORK.format(owner=owner, pointer=sections.POINTER if instructions else ""),
        sections.OUTSIDE,
        sections.PROPOSALS,
    ]
    if instructions:
        parts += [sections.INSTRUCTIONS_HEADING, instructions]
    return "\n\n".join(parts)


def opening_note(name: str, owner: str) -> str:
    """What the log of the subagent `name` begins with."""
    return (
        f"This is the chat of {name}, a subagent of {owner}. Its task follows, and later what else {owner} "
        "says to it."
    )


def log_text(messages: Iterable[tuple[Message, str]]) -> str:
    """A subagent's own log as its turns show it: each message with the text that is shown of it.

    Pictures are named in lines of their own; new ones stand with the messages of their turn.
    """
    lines: list[str] = []
    for message, text in messages:
        lines.append(f"{message.id}|{message.kind}: {text}")
        marks = (f"[image {image}]" for image in message.images)
        lines += [mark for mark in marks if mark not in text.splitlines()]
    return "\n".join(["<log>", *lines, "</log>"])


def left_out(message: Message, name: str) -> str:
    """What stands for an old result in the log of the subagent `name`: its text, where that is as short."""
    size = f"{len(message.text):,} characters"
    pointer = f"(left out, {size}: zoom with name {name}, id {message.id} and n 1 shows it)"
    return message.text if len(message.text) <= len(pointer) else pointer
