"""The head of each agent's calls, prompt and tools: it speaks of nothing that the agent cannot use."""

import json
import re
from pathlib import Path
from typing import Any

from onechat_agent.domain.consent import WEIGHTS

from tests.fakes.agent_house import living
from tests.fakes.agent_talk import make_child, says
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import Purpose, ScriptedModel, call


def named_in_vain(body: dict[str, Any]) -> set[str]:
    """Tools that a call's head names and does not have; a plain word only where it is meant."""
    has = {tool["name"] for tool in body["tools"]}
    head = body["instructions"] + json.dumps(body["tools"])
    return {
        name
        for name in set(WEIGHTS) - has
        if re.search(rf"\b{name}\b" if "_" in name else f"`{name}`|{name} with", head)
    }


async def test_no_agent_reads_of_a_tool_that_it_does_not_have(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """A model that reads of a tool tries to call it."""
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        says(house, "", call("spawn", tasks=["count"], effort=None), "at work", "", "and House")
        says(house, "One-1", "counted")
        says(house, "House", "")
        await house.say("use one")
        await house.logged("work: [One-1] counted")
        await house.say("look", to=house.id_of("House"))

        heads = {record.body["instructions"]: record.body for record in model.requests(Purpose.TURN)}
        assert len(heads) == 3, "root, child, subagent"
        assert [named_in_vain(body) for body in heads.values()] == [set()] * 3
