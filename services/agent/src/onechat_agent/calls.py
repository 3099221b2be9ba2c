"""The tool calls of one step: logged before they run, run side by side, each result logged as it ends.

A call's key is its place in the turn (domain/keys.py). What a tool is: tools/tool.py.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from onechat_runtime.errors import RemoteError

from onechat_agent.adapters import delivery_rows
from onechat_agent.domain.chat import Kind, NewMessage
from onechat_agent.domain.delivery import TurnId
from onechat_agent.domain.events import ToolActive
from onechat_agent.domain.keys import call_key, result_key
from onechat_agent.domain.text import clean
from onechat_agent.means import Means
from onechat_agent.seat import Seat
from onechat_agent.tools.tool import CallContext, Resumption, ToolResult

STOPPED_RESULT = "stopped"  #: what the log says of a call that a stop has ended
UNKNOWN_RESULT = "interrupted, not known whether it ran"  #: and of one that a restart has


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a step."""

    step: int
    number: int  #: from 1
    call_id: str  #: the endpoint's
    name: str
    arguments: str


class Calls:
    """Runs the calls of one turn."""

    def __init__(self, means: Means, seat: Seat, turn: TurnId, *, backed: bool) -> None:
        self._means = means
        self._seat = seat
        self._turn = turn
        self._backed = backed

    async def run(self, calls: Sequence[Call], *, tainted: bool) -> list[ToolResult]:
        """Results in the order of the calls; each is in the log when it is here."""
        hops = self._hops()
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(self._one(call, tainted, hops)) for call in calls]
        return [task.result() for task in running]

    async def again(self, call: Call, *, tainted: bool) -> ToolResult:
        """Runs a call whose result is logged as a pointer, to have again what it showed."""
        return await self._run(call, tainted, self._hops())

    def _hops(self) -> int:
        return self._means.store.read(lambda db: delivery_rows.hops(db, self._turn))

    async def _one(self, call: Call, tainted: bool, hops: int) -> ToolResult:
        result = await self._run(call, tainted, hops)
        await self.log_result(call, result.text if result.logged is None else result.logged)
        return result

    async def _run(self, call: Call, tainted: bool, hops: int) -> ToolResult:
        context = self._context(call, tainted, hops)
        return await self._seat.toolbox.run(call.name, call.arguments, context)

    def resumption(self, call: Call, *, tainted: bool) -> Resumption:
        """What happens to a call that a restart has interrupted."""
        return self._seat.toolbox.resumption(call.name, self._context(call, tainted, self._hops()))

    def _context(self, call: Call, tainted: bool, hops: int) -> CallContext:
        return CallContext(
            agent=self._seat.id,
            agent_name=self._seat.name,
            memory_of=self._seat.memory_of,
            turn=self._turn,
            call_key=call_key(self._turn, call.step, call.number),
            backed=self._backed,
            tainted=tainted,
            hops=hops,
            workdir=self._seat.workdir,
            protected=self._seat.protected,
        )

    async def log_result(self, call: Call, text: str) -> None:
        """Logs a call's result, once: one that is there already stays."""
        message = NewMessage(
            key=result_key(self._turn, call.step, call.number),
            kind=Kind.ECHO,
            text=clean(text) or "(no output)",
            time=self._means.clock.now(),
            turn=self._turn,
            step=call.step,
            call=str(call.number),
        )
        try:
            await self._means.patience.get(
                "result", lambda: self._means.memory.append(self._seat.id, [message])
            )
        except RemoteError as error:
            if error.reason != "KEY_REUSED":  # a stop came while the real one was on its way
                raise

    def fits(self, call: Call) -> bool:
        """Whether there is such a tool, and its arguments are ones that it takes."""
        return self._seat.toolbox.fits(call.name, call.arguments)

    def begun(self, call: Call) -> ToolActive:
        """The event of a call that begins."""
        return ToolActive(
            call=call_key(self._turn, call.step, call.number),
            tool=call.name,
            summary=self._seat.toolbox.summary(call.name, call.arguments),
        )

    def ended(self, call: Call, result: ToolResult) -> ToolActive:
        """The event of a call that has ended."""
        return ToolActive(
            call=call_key(self._turn, call.step, call.number),
            tool=call.name,
            summary=self._seat.toolbox.summary(call.name, call.arguments),
            ended=True,
            outcome=_outcome(result),
        )


def _outcome(result: ToolResult) -> str:
    if result.proposal is not None:
        return f"needs your yes: proposal {result.proposal}"
    return "failed" if result.failed else "done"
