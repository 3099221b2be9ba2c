"""What a tool is: its schema, what it is told of its call, and what it gives back.

Which agent has which tools, and how a call is checked and run: toolbox.py. Consent: domain/consent.py.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.delivery import TurnId


class Resumption(StrEnum):
    """What happens to a call whose result is missing after a restart."""

    AGAIN = "again"  #: it only reads: run it again
    SAME_KEY = "same key"  #: run it again with the call's key as request id
    UNKNOWN = "unknown"  #: the model is told that it is not known whether it ran


@dataclass(frozen=True, slots=True, kw_only=True)
class CallContext:
    """What a tool knows of its call, and nothing else of its turn."""

    agent: AgentId
    agent_name: str
    memory_of: AgentId  #: whose log zoom and date read: the agent's own, or a subagent's owner's
    turn: TurnId
    call_key: str  #: t:TURN:n:CALL; the request id of what has one
    backed: bool  #: whether the user stands behind the turn
    tainted: bool
    hops: int  #: how often agents have passed on what the turn is about
    workdir: Path
    protected: tuple[Path, ...] = ()  #: instructions.md and agent.toml files, whose change needs consent


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a call gave."""

    text: str  #: for the model
    logged: str | None = None  #: what the log holds instead, such as `zoomed 40+8`; None: the text
    taints: bool = False  #: whether text from outside may have entered the turn by it
    images: tuple[str, ...] = ()  #: stored names to be shown to the model
    failed: bool = False
    outcome_known: bool = True  #: of a failed one: whether it is known that nothing was done
    proposal: int | None = None  #: it was not run and awaits the user's yes under this number
    malformed: bool = False  #: the call fitted no tool or no schema and was not run; five in a row end a turn


class Tool(Protocol):
    """One tool. Runs side by side with others; never raises but for cancellation."""

    @property
    def name(self) -> str:
        """As the model calls it."""
        ...

    @property
    def schema(self) -> Mapping[str, Any]:
        """A strict function schema of the Responses API, the same for the tool's life."""
        ...

    @property
    def resumption(self) -> Resumption:
        """What happens to a call that a restart has interrupted."""
        ...

    async def run(self, context: CallContext, arguments: Mapping[str, Any]) -> ToolResult:
        """Do it; `arguments` fit the schema."""
        ...

    def summary(self, arguments: Mapping[str, Any]) -> str:
        """What it does, one line for people, such as `shell: ls -la`."""
        ...


@runtime_checkable
class SaysBeside(Protocol):
    """A tool that can say more of an argument than stands in it, such as whose an id is, or show it."""

    async def beside(self, arguments: Mapping[str, Any]) -> Mapping[str, str]:
        """What people read beside an argument of a proposal, by the argument's name; never raises."""
        ...

    def pictures(self, arguments: Mapping[str, Any]) -> Sequence[str]:
        """The stored names of pictures that people are shown before a proposal; never raises."""
        ...
