"""spawn: the root or a child has subagents work on tasks of the user's, side by side.

What becomes of them: subagents.py. Who may have the tool: toolbox.py.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from onechat_agent.domain.between import SUBAGENT_TOLD_MAX
from onechat_agent.domain.delivery import HOPS_MAX
from onechat_agent.domain.text import one_line
from onechat_agent.tools.schema import choice, function_schema, optional, texts
from onechat_agent.tools.tool import CallContext, Resumption, ToolResult

EFFORTS: Final = ("low", "medium", "high", "xhigh")
TASKS_MAX: Final = 20  # of one call


class Made(Protocol):
    """What became of a spawn."""

    @property
    def names(self) -> Sequence[str]:
        """In the order of the tasks."""
        ...

    @property
    def in_line(self) -> Sequence[str]:
        """Those of them that wait until others are done."""
        ...


class Spawning(Protocol):
    """Makes subagents; the same call makes them once."""

    async def spawn(self, context: CallContext, tasks: Sequence[str], effort: str | None) -> Made:
        """One subagent for each task, on disk when it answers."""
        ...


class SpawnTool:
    """Makes subagents of the agent that calls it."""

    name = "spawn"
    resumption = Resumption.SAME_KEY
    schema = function_schema(
        "spawn",
        "Start subagents, one for each task, that work beside you; only when the user asks for it. It "
        "answers with their names at once; each reports later by a message that begins with its name. One "
        "sees your view and your instructions, but what is wanted of it it knows by its task alone, and not "
        "what was said to you last: so let the task say all of it, what to do, with which files, names and "
        "figures, what to leave alone, and what to report.",
        tasks=texts(f"The tasks, each whole in itself; 1 to {TASKS_MAX}."),
        effort=optional(choice("How hard they think: null as hard as you.", *EFFORTS)),
    )

    def __init__(self, spawning: Spawning) -> None:
        self._spawning = spawning

    async def run(self, context: CallContext, arguments: Mapping[str, Any]) -> ToolResult:
        """Their names, and who of them waits."""
        tasks: list[str] = arguments["tasks"]
        wrong = _fault(tasks, context.hops)
        if wrong is not None:
            return ToolResult(text=wrong, failed=True)
        made = await self._spawning.spawn(context, tasks, arguments["effort"])
        return ToolResult(text=_answer(made))

    def summary(self, arguments: Mapping[str, Any]) -> str:
        """Such as `spawn: find three firms; read the contract`."""
        return "spawn: " + "; ".join(one_line(task, 60) for task in arguments["tasks"])


def _fault(tasks: Sequence[str], hops: int) -> str | None:
    if not 1 <= len(tasks) <= TASKS_MAX:
        return f"spawn takes 1 to {TASKS_MAX} tasks: nobody was started."
    if not all(task.strip() for task in tasks):
        return "A task is empty: nobody was started."
    if any(len(task.encode()) > SUBAGENT_TOLD_MAX for task in tasks):
        return (
            f"A task has over {SUBAGENT_TOLD_MAX:,} bytes: nobody was started. Put the text into a file and "
            "name that."
        )
    if hops + 1 >= HOPS_MAX:
        return (
            "Nobody was started: agents have passed this on to each other too often without the user. "
            "End the turn, and say what is open."
        )
    return None


def _answer(made: Made) -> str:
    started = [name for name in made.names if name not in made.in_line]
    parts = []
    if started:
        parts.append(f"At work: {', '.join(started)}.")
    if made.in_line:
        verb = "waits" if len(made.in_line) == 1 else "wait"
        parts.append(f"In line: {', '.join(made.in_line)}, which {verb} until others are done.")
    parts.append("Each reports by a message that begins with its name in brackets; do not wait for it.")
    return " ".join(parts)
