"""shell: any command of bash, as the service's user, without the services' secrets.

It gets no input, a plain environment, and where the kernel has Landlock no way to the services' data. How its
processes are started and ended: processes.py.
"""

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from onechat_runtime.clock import Clock

from onechat_agent.domain.text import OUTPUT_MAX, one_line
from onechat_agent.tools.fence import Fence
from onechat_agent.tools.processes import Command, Ended, run_command
from onechat_agent.tools.schema import function_schema, text
from onechat_agent.tools.tool import CallContext, Resumption, ToolResult

LIMIT_S: Final = 600.0  #: seconds that a command may run
_ROOM_FOR_END: Final = 300  # characters of the result kept for how the command ended
_KEPT_VARIABLES: Final = frozenset({"PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR"})


class ShellTool:
    """Runs a command."""

    name = "shell"
    resumption = Resumption.UNKNOWN

    def __init__(
        self,
        fence: Fence,
        *,
        environ: Mapping[str, str],
        clock: Clock,
        landlock: int,
        limit_s: float = LIMIT_S,
    ) -> None:
        """`environ`: the service's own, of which a command gets a few; `landlock`: landlock_version()."""
        self._fence = fence
        self._environment = plain_environment(environ)
        self._clock = clock
        self._landlock = landlock
        self._limit_s = limit_s
        self.schema: Mapping[str, Any] = function_schema(
            "shell", self._description(), command=text("For bash -c.")
        )

    async def run(self, context: CallContext, arguments: Mapping[str, Any]) -> ToolResult:
        """What the command printed and how it ended.

        No look at the command can tell whether it would change instructions.md or agent.toml. In a turn that
        may not, the kernel keeps the agents' folders read-only; without Landlock nothing does.
        """
        may_change_agents = context.backed and not context.tainted
        folders = self._fence.agent_folders
        command = Command(
            text=arguments["command"],
            folder=context.workdir,
            environment=self._environment,
            landlock=self._landlock,
            closed=self._fence.closed,
            readable=() if may_change_agents else folders,
            writable=folders if may_change_agents else (),
        )
        ended = await run_command(command, clock=self._clock, limit_s=self._limit_s)
        end = _how_it_ended(ended, self._limit_s)
        output = ended.output.shown(OUTPUT_MAX - _ROOM_FOR_END)
        shown = "\n".join(part for part in (output.removesuffix("\n"), end) if part)
        return ToolResult(text=shown or "(no output)", taints=True, failed=bool(end))

    def summary(self, arguments: Mapping[str, Any]) -> str:
        """Such as `shell: ls -la`."""
        return f"shell: {one_line(arguments['command'])}"

    def _description(self) -> str:
        said = (
            "Run a command in bash, in the working directory and without input. Gives its output and error "
            "output, and its exit status when that is not 0. It ends after "
            f"{self._limit_s / 60:g} minutes at most, and whatever it leaves in the background ends with it."
        )
        narrow = narrow_folders(self._fence) if self._landlock else []
        if narrow:
            listed = ", ".join(str(folder) for folder in narrow)
            said += f" Nothing can be made, renamed or removed directly in {listed}; only in folders there."
        return said


def plain_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What a command may see of `environ`: an allow-list, since any other name may hold a secret."""
    kept = {
        name: value for name, value in environ.items() if name in _KEPT_VARIABLES or name.startswith("LC_")
    }
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", **kept, "SHELL": "/bin/bash", "TERM": "dumb"}


def narrow_folders(fence: Fence) -> list[Path]:
    """The user's own folders above a closed path, in which Landlock lets nothing be made (landlock.py)."""
    closed = [Path(os.path.realpath(path)) for path in fence.closed if path.exists()]
    above = {folder for path in closed for folder in path.parents}
    inside = {folder for folder in above for path in closed if path in (folder, *folder.parents)}
    return sorted(folder for folder in above - inside if os.access(folder, os.W_OK))


def _how_it_ended(ended: Ended, limit_s: float) -> str:
    """A line in brackets; empty for a command that ended well."""
    if ended.timed_out:
        return f"(ended: it ran into its limit of {limit_s / 60:g} minutes)"
    if ended.failed is not None:
        return f"({one_line(ended.failed)})"
    if ended.signal is not None:
        return f"(killed by {_signal_name(ended.signal)})"
    return f"(exit status {ended.status})" if ended.status else ""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
