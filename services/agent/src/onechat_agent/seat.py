"""An agent as its turns and compactions know it: its words, its tools, its limits.

Where agents come from: agents.py. Sizes are UTF-8 bytes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from onechat_agent.domain.agent import Role
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.events import USER_AUDIENCE
from onechat_agent.domain.limits import Limits
from onechat_agent.domain.usage import Purpose
from onechat_agent.model.items import Item, ModelRequest, ToolChoice
from onechat_agent.tools.tool import CallContext, Resumption, ToolResult


class Toolbox(Protocol):
    """The tools that an agent has, in a fixed order."""

    @property
    def schemas(self) -> tuple[Mapping[str, Any], ...]:
        """Strict function schemas, the same bytes from call to call."""
        ...

    async def run(self, name: str, raw_arguments: str, context: CallContext) -> ToolResult:
        """Checks and runs one call; raises nothing but CancelledError."""
        ...

    def fits(self, name: str, raw_arguments: str) -> bool:
        """Whether there is such a tool, and the arguments are ones that it takes."""
        ...

    def summary(self, name: str, raw_arguments: str) -> str:
        """What a call does, one line for people."""
        ...

    def resumption(self, name: str, context: CallContext | None = None) -> Resumption:
        """What happens to a call of `name` that a restart has interrupted; `context`: the call's."""
        ...

    async def run_approved(self, name: str, raw_arguments: str, context: CallContext) -> ToolResult:
        """Runs a call that the user has said yes to; raises nothing but CancelledError."""
        ...

    async def target(self, name: str, raw_arguments: str, workdir: Path) -> str:
        """The file, without links, that such a write or edit would change now; "" for anything else."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """One agent."""

    id: AgentId  #: its log's id and its cache key too
    name: str
    limits: Limits
    model: str
    compact_model: str
    effort: str
    workdir: Path
    protected: tuple[Path, ...]  #: files whose change needs the user's consent
    toolbox: Toolbox
    system: Callable[[], str]  #: the system prompt; reads instructions.md anew
    state: Callable[[datetime], str]  #: the state block at an instant
    role: Role = Role.ROOT
    parent: AgentId | None = None  #: a child's root, a subagent's owner: who gets what it ends its turns with
    area: str = ""  #: a child's responsibility, a subagent's task, a group's title when the seat was made
    audience: str = USER_AUDIENCE  #: whose eyes its turns are for; a group's agent's: the group's source
    instructions: Callable[[], str] = lambda: ""  #: the user's wishes, read anew; a subagent's owner's
    outside: tuple[str, ...] = ()  #: what its turns may do that the user does not stand behind
    owner: "Seat | None" = None  #: a subagent's; None for every other agent

    @property
    def view_of(self) -> "Seat":
        """Whose view its turns show: its own, or a subagent's owner's."""
        return self.owner or self

    @property
    def memory_of(self) -> AgentId:
        """Whose log its view shows, and its zooms read."""
        return self.view_of.id

    @property
    def group(self) -> str:
        """The source of the group whose agent it is; empty for every other agent."""
        return self.audience if self.role is Role.GROUP else ""

    @property
    def purpose(self) -> Purpose:
        """What its turns' calls are recorded as."""
        return Purpose.TURN if self.owner is None else Purpose.SUBAGENT

    def request(
        self, items: Sequence[Item], *, model: str | None = None, choice: ToolChoice = ToolChoice.AUTO
    ) -> ModelRequest:
        """One call with this agent's head, the same bytes for turns and compactions."""
        return ModelRequest(
            system=self.system(),
            tools=self.toolbox.schemas,
            items=tuple(items),
            model=model or self.model,
            effort=self.effort,
            cache_key=self.id,
            max_output_tokens=self.limits.output_tokens,
            tool_choice=choice,
        )
