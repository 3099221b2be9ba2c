"""An ideal prefix cache, and the prompts of compactions as it sees them. Sizes are UTF-8 bytes.

A prompt is a list of parts: what is the same for every call, then the view a line at a time, then the task.
The cache has every prompt that was ever sent, gives back the longest beginning that any of them shares with a
new one, and forgets nothing; a provider's is worse in all three. Of a part that differs nothing is shared.
"""

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onechat_agent.domain.agent import Role
from onechat_agent.prompts.compaction import Task, task_text
from onechat_agent.prompts.root import root_prompt
from onechat_agent.prompts.system import Head
from onechat_agent.tools.fence import Fence
from onechat_agent.tools.files import EditTool, ReadTool, WriteTool
from onechat_agent.tools.memory import DateTool, ZoomTool
from onechat_agent.tools.shell import ShellTool
from onechat_runtime.clock import SystemClock


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What a compaction sends."""

    lines: tuple[str, ...]  #: of the view that it sees
    task: str

    @property
    def parts(self) -> tuple[str, ...]:
        """All of it, in order."""
        return (head(), "<chat>\n", *(f"{line}\n" for line in self.lines), "</chat>", self.task)


@dataclass(slots=True, kw_only=True)
class Share:
    """How much of what was sent the cache had."""

    read: int = 0
    sent: int = 0

    @property
    def percent(self) -> float:
        """Of what was sent."""
        return 100 * self.read / self.sent if self.sent else 0.0


@dataclass(slots=True, kw_only=True)
class PromptCache:
    """The prompts that were sent, by their beginnings, and what it had of each."""

    view: Share = field(default_factory=Share)  #: of the views' lines
    whole: Share = field(default_factory=Share)  #: of the whole prompts
    prompts: int = 0
    _known: set[int] = field(default_factory=set)  #: a hash of each beginning

    def send(self, prompts: Sequence[Prompt], *, one_goes_ahead: bool) -> None:
        """Prompts that come together. The one that sees most is sent first; where it goes ahead it is read
        before the others are sent.
        """
        came: list[set[int]] = []
        for prompt in sorted(prompts, key=lambda one: -len(one.lines)):
            came.append(self._send(prompt))
            if one_goes_ahead:
                self._known.update(*came)
        self._known.update(*came)

    def _send(self, prompt: Prompt) -> set[int]:
        """Count a prompt; the hashes of its beginnings."""
        self.prompts += 1
        beginnings: set[int] = set()
        beginning, parts, known = 0, prompt.parts, True
        for place, part in enumerate(parts):
            beginning = hash((beginning, part))
            beginnings.add(beginning)
            known = known and beginning in self._known
            shares = [self.whole, self.view] if 2 <= place < len(parts) - 2 else [self.whole]
            for share in shares:
                share.sent += len(part.encode())
                share.read += len(part.encode()) if known else 0
        return beginnings


@functools.cache
def head() -> str:
    """The root's tools and instructions, of a user who has written none."""
    closed = Fence(closed=(), agent_folders=())
    shell = ShellTool(closed, environ={}, clock=SystemClock(), landlock=1)
    nobody: Any = None  # whom a schema does not need
    tools: list[Any] = [ZoomTool(nobody, Role.ROOT), DateTool, shell, ReadTool, WriteTool, EditTool]
    prompt = Head(
        name="One",
        instructions_file=Path("/agents/root/instructions.md"),
        instructions="",
        tools=[tool.name for tool in tools],
    )
    return json.dumps([tool.schema for tool in tools]) + root_prompt(prompt)


def prompt_of(lines: Sequence[str], *, first: int, count: int, source: str) -> Prompt:
    """The prompt for the line of `count` messages from `first` on, behind the view's `lines`."""
    return Prompt(lines=tuple(lines), task=task_text(Task(first=first, count=count, source=source)))
