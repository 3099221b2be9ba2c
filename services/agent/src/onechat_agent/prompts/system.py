"""The system prompt, put together from the sections that an agent's tools and abilities call for. Pure.

The same bytes from call to call, for turns and compactions alike: it is the head of every cached prefix. The
user's instructions end it. Every agent's sections: sections.py. The root's own: root.py; a child's: child.py.
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


def whole_prompt(head: Head, who: str, *own: str, others: str) -> str:
    """The prompt of an agent with a tree: `who` it is, what every such agent is told, its `own` sections.

    `others`: whose memory it may name, such as "a child or a subagent".
    """
    instructions = head.instructions.strip()
    names = sections.NAMES.format(whose=others) if "spawn" in head.tools else ""
    turns = sections.TURNS.format(
        pointer=sections.POINTER if instructions else "",
        next_turn=sections.NEXT_BY_SCHEDULE if "schedule_set" in head.tools else sections.NEXT_BY_MESSAGE,
    )
    parts = [who, sections.VIEW.format(names=names), turns]
    if "spawn" in head.tools:
        parts.append(sections.SUBAGENTS.format(name=head.name))
    parts += [
        *own,
        sections.OUTSIDE,
        sections.PROPOSALS,
        sections.FILE.format(path=head.instructions_file),
        sections.COMPACTION,
    ]
    if instructions:
        parts += [sections.INSTRUCTIONS_HEADING, instructions]
    return "\n\n".join(parts)
