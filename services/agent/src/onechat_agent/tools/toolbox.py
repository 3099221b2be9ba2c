"""The tools of one agent: their schemas in a fixed order, and one door through which every call goes.

A call is checked against its schema, then consent is asked, then it runs; whatever goes wrong on the way
comes back as a line for the model. Whether a turn has seen too many malformed calls is the turn's affair.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from onechat_runtime import logs
from onechat_runtime.errors import RemoteError

from onechat_agent.domain.agent import Role
from onechat_agent.domain.arguments import Unfitting, parse_arguments
from onechat_agent.domain.consent import Confirm, Proposes, decide
from onechat_agent.domain.text import clean, clip, one_line
from onechat_agent.tools.fence import same_file
from onechat_agent.tools.tool import CallContext, Resumption, Tool, ToolResult

log = logs.get("tools")


_MEMORY: Final = ("zoom", "date")
_WORK: Final = ("shell", "read", "write", "edit")
_SCHEDULES: Final = ("schedule_set", "schedule_list", "schedule_remove")
# What each role may have, in the order in which the model sees it.
TOOLS_OF: Final[Mapping[Role, tuple[str, ...]]] = {
    Role.ROOT: (
        *_MEMORY,
        *_WORK,
        *("spawn", "agent_create", "tell", "image_show", "whatsapp_find", "whatsapp_send"),
        *("route", "unroute", "routes"),
        *_SCHEDULES,
    ),
    Role.CHILD: (*_MEMORY, *_WORK, "spawn", "tell", *_SCHEDULES),
    Role.SUBAGENT: _MEMORY + _WORK,
    Role.GROUP: _MEMORY,
}
_CHANGES_FILES: Final = frozenset({"write", "edit"})
_WHOLE: Final = frozenset({"zoom"})  # pages of its own: never clipped


class Toolbox:
    """What one agent can do."""

    def __init__(
        self, role: Role, tools: Iterable[Tool], *, confirm: Confirm, outside: Collection[str] = ()
    ) -> None:
        """Takes those of `tools` that `role` may have.

        `outside`: agent.toml's list of what the agent's unbacked turns may do without the user's yes.
        """
        at_hand = {tool.name: tool for tool in tools}
        self._tools = {name: at_hand[name] for name in TOOLS_OF[role] if name in at_hand}
        self._confirm = confirm
        self._outside = frozenset(outside)

    @property
    def schemas(self) -> tuple[Mapping[str, Any], ...]:
        """For the model; the same bytes for the life of the toolbox."""
        return tuple(tool.schema for tool in self._tools.values())

    @property
    def names(self) -> tuple[str, ...]:
        """What the agent has, in the order of the schemas."""
        return tuple(self._tools)

    def resumption(self, name: str) -> Resumption:
        """What to do about a call without a result after a restart; an unknown tool did nothing."""
        return self._tools[name].resumption if name in self._tools else Resumption.AGAIN

    def summary(self, name: str, raw_arguments: str) -> str:
        """What the call does, one line for people; of one that does not fit the name only."""
        tool = self._tools.get(name)
        if tool is None:
            return one_line(clean(name))
        parsed = parse_arguments(raw_arguments, tool.schema["parameters"])
        return name if isinstance(parsed, Unfitting) else one_line(tool.summary(parsed.values))

    async def run(self, name: str, raw_arguments: str, context: CallContext) -> ToolResult:
        """Do the call, whatever the model wrote; never raises but for cancellation."""
        tool = self._tools.get(name)
        if tool is None:
            known = ", ".join(self._tools)
            return _malformed(f"There is no tool {one_line(clean(name), 60)}. The tools are {known}.")
        parsed = parse_arguments(raw_arguments, tool.schema["parameters"])
        if isinstance(parsed, Unfitting):
            return _malformed(f"{name} was not run: {parsed.why}.")
        try:
            refused = await self._refusal(name, parsed.values, context)
            result = refused or await tool.run(context, parsed.values)
        except Exception as error:  # noqa: BLE001 - a fault of one tool must not end the turn
            return _fault(tool, error, context)
        text = clean(result.text)
        return replace(result, text=text if name in _WHOLE else clip(text))

    async def _refusal(
        self, name: str, arguments: Mapping[str, Any], context: CallContext
    ) -> ToolResult | None:
        """What the model is told of a call that needs the user's yes; None for one that runs.

        The path of a write or an edit is looked at here and again when it runs. Whoever could exchange it in
        between has a shell, and could change the file without these tools.
        """
        touches = False
        if name in _CHANGES_FILES and context.protected:
            touches = await asyncio.to_thread(_is_protected, arguments["path"], context)
        decision = decide(
            name,
            backed=context.backed,
            tainted=context.tainted,
            confirm=self._confirm,
            outside=self._outside,
            touches_protected=touches,
        )
        return ToolResult(text=decision.sentence, failed=True) if isinstance(decision, Proposes) else None


def _is_protected(path: str, context: CallContext) -> bool:
    target = context.workdir / path
    return any(same_file(target, protected) for protected in context.protected)


def _malformed(sentence: str) -> ToolResult:
    return ToolResult(text=sentence, failed=True, malformed=True)


def _fault(tool: Tool, error: Exception, context: CallContext) -> ToolResult:
    """A bug, or another service that a tool does not answer for: logged with its stack, told in a line."""
    log.error("tool_failed", tool=tool.name, agent=context.agent_name, stack=logs.stack_of(error))
    harmless = tool.resumption is Resumption.AGAIN or (isinstance(error, RemoteError) and error.outcome_known)
    outcome = "nothing was done" if harmless else "it is not known whether anything was done"
    return ToolResult(text=f"{tool.name} failed by a fault of its own: {outcome}.", failed=True)
