"""The tools of one agent: their schemas in a fixed order, and one door through which every call goes.

A call is checked against its schema, then consent is asked, then it runs or becomes a proposal; whatever goes
wrong on the way comes back as a line for the model. Whether a turn has seen too many malformed calls is the
turn's affair.
"""

import asyncio
import json
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from onechat_runtime import logs
from onechat_runtime.errors import RemoteError

from onechat_agent.domain.agent import Role
from onechat_agent.domain.arguments import Unfitting, parse_arguments
from onechat_agent.domain.consent import WEIGHTS, Confirm, Proposes, Weight, Why, decide
from onechat_agent.domain.proposal import Held
from onechat_agent.domain.text import clean, clip, one_line
from onechat_agent.tools.fence import is_rule
from onechat_agent.tools.proposing import Proposing
from onechat_agent.tools.tool import CallContext, Resumption, SaysBeside, Tool, ToolResult

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
        self,
        role: Role,
        tools: Iterable[Tool],
        *,
        confirm: Confirm,
        proposals: Proposing,
        outside: Collection[str] = (),
        agents: Path | None = None,
        also: Collection[str] = (),
    ) -> None:
        """Takes those of `tools` that `role` may have, and those that the user has given it `also`.

        `outside`: agent.toml's list of what the agent's unbacked turns may do without the user's yes.
        `agents`: the folder of all agents' folders.
        """
        at_hand = {tool.name: tool for tool in tools}
        names = (*TOOLS_OF[role], *(name for name in _WORK if name in also and name not in TOOLS_OF[role]))
        self._tools = {name: at_hand[name] for name in names if name in at_hand}
        self._confirm = confirm
        self._proposals = proposals
        self._outside = frozenset(outside)
        self._agents = agents

    @property
    def schemas(self) -> tuple[Mapping[str, Any], ...]:
        """For the model; the same bytes for the life of the toolbox."""
        return tuple(tool.schema for tool in self._tools.values())

    @property
    def names(self) -> tuple[str, ...]:
        """What the agent has, in the order of the schemas."""
        return tuple(self._tools)

    def resumption(self, name: str, context: CallContext | None = None) -> Resumption:
        """What to do about a call without a result after a restart; an unknown tool did nothing.

        `context`: the call's, by which one that has only proposed is known, or could do no more: again.
        """
        tool = self._tools.get(name)
        if tool is None or (context is not None and self._only_proposes(tool, context)):
            return Resumption.AGAIN
        return tool.resumption

    def _only_proposes(self, tool: Tool, context: CallContext) -> bool:
        weight = WEIGHTS.get(tool.name, Weight.GRAVE)
        allowed = weight is Weight.LIGHT or tool.name in self._outside
        return (not context.backed and not allowed) or self._proposals.of_call(context.call_key) is not None

    def fits(self, name: str, raw_arguments: str) -> bool:
        """Whether there is such a tool, and the arguments are ones that it takes."""
        tool = self._tools.get(name)
        return tool is not None and not isinstance(
            parse_arguments(raw_arguments, tool.schema["parameters"]), Unfitting
        )

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
            held = await self._held_back(tool, parsed.values, context)
        except Exception as error:  # noqa: BLE001 - nothing runs whose consent could not be settled
            return _fault(tool, error, context, nothing_done=True)
        return held or await self._done(tool, parsed.values, context)

    async def run_approved(self, name: str, raw_arguments: str, context: CallContext) -> ToolResult:
        """Do a call that the user has said yes to: as theirs, without asking again."""
        tool = self._tools.get(name)
        if tool is None:
            return ToolResult(text=f"There is no tool {name} any more: nothing was done.", failed=True)
        parsed = parse_arguments(raw_arguments, tool.schema["parameters"])
        if isinstance(parsed, Unfitting):
            return ToolResult(text=f"{name} was not run: {parsed.why}.", failed=True)
        return await self._done(tool, parsed.values, context)

    async def target(self, name: str, raw_arguments: str, workdir: Path) -> str:
        """The file, without links, that a write or an edit would change now; "" for anything else."""
        if name not in _CHANGES_FILES:
            return ""
        return await asyncio.to_thread(os.path.realpath, workdir / json.loads(raw_arguments)["path"])

    async def _done(self, tool: Tool, arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        try:
            result = await tool.run(context, arguments)
        except Exception as error:  # noqa: BLE001 - a fault of one tool must not end the turn
            return _fault(tool, error, context)
        text = clean(result.text)
        return replace(result, text=text if tool.name in _WHOLE else clip(text))

    async def _held_back(
        self, tool: Tool, arguments: Mapping[str, Any], context: CallContext
    ) -> ToolResult | None:
        """What the model is told of a call that needs the user's yes; None for one that runs.

        The path of a write or an edit is looked at here and again when it runs. Whoever could exchange it in
        between has a shell, and could change the file without these tools.
        """
        name, own_rules, target = tool.name, False, ""
        if name in _CHANGES_FILES:
            own_rules, target = await asyncio.to_thread(self._looked_at, arguments["path"], context)
        decision = decide(
            name,
            backed=context.backed,
            tainted=context.tainted,
            confirm=self._confirm,
            outside=self._outside,
            touches_protected=own_rules,
        )
        number = self._proposals.of_call(context.call_key)
        if number is None:
            if not isinstance(decision, Proposes):
                return None
            says = tool if isinstance(tool, SaysBeside) else None
            held = Held(
                agent=context.agent,
                turn=context.turn,
                call_key=context.call_key,
                tool=name,
                arguments=json.dumps(arguments, ensure_ascii=False),
                workdir=str(context.workdir),
                target=target,
                why=decision.why,
                own_rules=own_rules,
                beside=await says.beside(arguments) if says else {},
                pictures=tuple(says.pictures(arguments)) if says else (),
            )
            number = await self._proposals.propose(held)
        elif not isinstance(decision, Proposes):  # what was proposed stays so, whatever the settings say now
            decision = Proposes(what=name, why=Why.EVERY_SEND if context.backed else Why.UNBACKED)
        return ToolResult(text=decision.sentence(number), failed=True, proposal=number)

    def _looked_at(self, path: str, context: CallContext) -> tuple[bool, str]:
        """Whether a change of `path` is one of what agents are told or allowed; and its file."""
        target = context.workdir / path
        return is_rule(target, context.protected, self._agents), os.path.realpath(target)


def _malformed(sentence: str) -> ToolResult:
    return ToolResult(text=sentence, failed=True, malformed=True)


def _fault(tool: Tool, error: Exception, context: CallContext, *, nothing_done: bool = False) -> ToolResult:
    """A bug, or another service that a tool does not answer for: logged with its stack, told in a line."""
    log.error("tool_failed", tool=tool.name, agent=context.agent_name, stack=logs.stack_of(error))
    harmless = tool.resumption is Resumption.AGAIN or (isinstance(error, RemoteError) and error.outcome_known)
    known = harmless or nothing_done
    outcome = "nothing was done" if known else "it is not known whether anything was done"
    text = f"{tool.name} failed by a fault of its own: {outcome}."
    return ToolResult(text=text, failed=True, outcome_known=known)
