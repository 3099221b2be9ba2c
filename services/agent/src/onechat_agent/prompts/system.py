"""The system prompt, put together from the sections that an agent's tools and abilities call for. Pure.

The same bytes from call to call, for turns and compactions alike: it is the head of every cached prefix. The
user's instructions end it. The sections' words: sections.py.
"""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from onechat_agent.prompts import sections


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What a system prompt depends on, and all that it does."""

    name: str  #: the agent's
    instructions_file: Path  #: absolute; it may not exist
    instructions: str  #: what the file holds; "" without one
    tools: Collection[str]  #: the names of the agent's tools


def root_prompt(head: Head) -> str:
    """The root's prompt."""
    instructions = head.instructions.strip()
    turns = sections.TURNS.format(
        pointer=sections.POINTER if instructions else "",
        next_turn=sections.NEXT_BY_SCHEDULE if "schedule_set" in head.tools else sections.NEXT_BY_MESSAGE,
    )
    parts = [
        sections.ROOT.format(name=head.name),
        sections.VIEW,
        turns,
        sections.OUTSIDE,
        sections.FILE.format(path=head.instructions_file),
        sections.COMPACTION,
    ]
    if instructions:
        parts += [sections.INSTRUCTIONS_HEADING, instructions]
    return "\n\n".join(parts)
