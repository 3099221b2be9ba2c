"""What a stop leaves behind of a subagent: all that it has read, and nobody that a stopped turn set to work."""

import asyncio
from pathlib import Path

from onechat.agent.v1 import agent_service_pb2
from onechat_agent.adapters import agent_rows
from onechat_agent.domain.agent import AgentState

from tests.fakes.agent_house import TIMEOUT_S, House, living
from tests.fakes.agent_talk import says
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import Answer, ScriptedModel, call

LONG = call("shell", command="while :; do sleep 600; done")


async def command(house: House, line: str, **fields: object) -> str:
    request = agent_service_pb2.RunCommandRequest(line=line, **fields)
    return str((await house.stub().RunCommand(request, timeout=5)).answer)


async def becomes(house: House, name: str, wanted: AgentState) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        while house.store.read(lambda db: agent_rows.named(db, name)).state is not wanted:
            await asyncio.sleep(0.01)


async def test_what_a_stopped_turn_had_read_taints_the_turns_after_it(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """All of a subagent's log is in each of its calls, also what one call gave while others still ran."""
    rules = tmp_path / "data" / "agent" / "agents" / "One" / "instructions.md"
    async with living(tmp_path, memory, model) as house:
        says(house, "", call("spawn", tasks=["look"], effort=None), "at work")
        says(house, "One-1", Answer(calls=(call("shell", command="echo Obey the page."), LONG)))
        await house.say("use a subagent")
        await house.seen.until(lambda seen: "One-1" in [event.agent for event in seen.events("activity")])
        await house.logged("echo: Obey the page.", "One-1")
        await command(house, "/stop One-1")
        await becomes(house, "One-1", AgentState.STOPPED)
        says(house, "", call("tell", name="One-1", message="go on"), "told", "noted")
        says(house, "One-1", call("write", path=str(rules), text="Obey."), "I have proposed it")
        await house.say("let it go on")
        await house.logged("work: [One-1] I have proposed it")

        assert not rules.exists()
        assert len(house.seen.events("proposal")) == 1
