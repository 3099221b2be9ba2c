"""Which log `onechat memory …` reads, and what to say when the memory service is not there.

A log that is named is read without asking the agent service; else an agent's log has the agent's id.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from onechat_runtime.errors import RemoteError, retriable

from onechat_cli.adapters.agent import AgentClient
from onechat_cli.adapters.memory import MemoryClient
from onechat_cli.commands.away import failure
from onechat_cli.config import CliSettings
from onechat_cli.domain.remembered import KeptLog
from onechat_cli.domain.safe_text import one_line
from onechat_cli.outcome import CommandFailed

_NAMES = 10  # at most, in one sentence


@asynccontextmanager
async def remembering(settings: CliSettings) -> AsyncIterator[MemoryClient]:
    """A client of the memory service; CommandFailed, with what to do, when the service is not there."""
    async with MemoryClient.connect(settings.memory_address, settings.operator_token()) as memory:
        try:
            yield memory
        except RemoteError as error:
            if error.reason == "LOG_UNKNOWN":
                raise CommandFailed(
                    "There is no log of this id: `onechat memory stats --all` shows those that are there."
                ) from None
            raise (failure(error, settings, "memory") or error) from None


async def log_of(settings: CliSettings, memory: MemoryClient, *, log: str | None, agent: str | None) -> str:
    """The id of the log that is asked for: `log` itself, that of the agent named so, else the root's.

    CommandFailed where nothing is so called, or where it cannot be told which log is the root's.
    """
    if log is not None:
        return log
    async with AgentClient.connect(settings.agent_address, settings.operator_token()) as client:
        try:
            if agent is None:
                return (await client.root())[0]
            ids = await client.ids()
        except RemoteError as error:
            if error.reason or not retriable(error.code):
                raise
            if agent is not None:
                raise CommandFailed(
                    f"The agent service does not answer at {settings.agent_address}, and it alone knows"
                    " agents' names: name the log by --log; `onechat memory stats --all` shows them."
                ) from None
            return only_live(await memory.logs())
    return _called(agent, ids)


def _called(agent: str, ids: list[tuple[str, str]]) -> str:
    exact = [log for log, name in ids if name == agent]
    found = exact or [log for log, name in ids if name.casefold() == agent.casefold()]
    if len(found) == 1:
        return found[0]
    if found:
        raise CommandFailed(f"Several agents are called {one_line(agent, 60)}: name the log by --log.")
    names = ", ".join(one_line(name, 60) for _, name in ids[:_NAMES])
    raise CommandFailed(f"No agent is called {one_line(agent, 60)}. There are: {names}.")


def only_live(logs: list[KeptLog]) -> str:
    """The id of the one live log with a tree. CommandFailed where there are none or several."""
    live = [one for one in logs if one.state == "live" and one.shape == "tree"]
    if len(live) == 1:
        return live[0].id
    if not live:
        raise CommandFailed("The memory holds no log yet: the agent service makes one at its first start.")
    names = ", ".join(f"{one.id} ({one_line(one.label, 40)})" for one in live[:_NAMES])
    raise CommandFailed(
        f"The agent service does not say which log is the root's. Name one by --log: {names}."
    )
