"""What a subagent has of its owner, and which of them an owner sees at work: its own and nobody else's."""

from pathlib import Path

from tests.fakes.agent_house import living
from tests.fakes.agent_talk import holds, make_child, of, says, user_texts
from tests.fakes.child_folders import agents_in
from tests.fakes.memory_server import MemoryServer
from tests.fakes.proposal_talk import BATCH
from tests.fakes.scripted_model import Purpose, ScriptedModel, call


async def test_each_owner_sees_its_own_subagents_at_work(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        child = await make_child(house, "House")
        says(house, "", call("spawn", tasks=["count"], effort=None), "at work", "still at it")
        gate = holds(house, "One-1", "counted")
        says(house, "House", "nothing")
        await house.say("use one")
        await gate.reached()
        await house.say("anything new?", to=child)
        await house.say("how far is it?")

        def state(name: str) -> str:
            is_its = of(house, name)
            last = [one.body for one in model.requests(Purpose.TURN) if is_its(one.body)][-1]
            return next(text for text in user_texts(last) if text.startswith("<state>"))

        assert "subagents at work: One-1\n" in state("")
        assert "subagents at work" not in state("House")
        gate.open()


async def test_a_subagent_may_do_for_others_what_its_owner_may(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """The user has said so of the agent; its subagents work in its place."""
    async with living(tmp_path, memory, model):
        pass
    file = agents_in(tmp_path) / "One" / "agent.toml"
    file.write_text(file.read_text().replace("#outside = []", 'outside = ["shell"]'))
    async with living(tmp_path, memory, model) as house:
        says(house, "", call("spawn", tasks=["count"], effort=None), "", "")
        write = call("write", path="notes.txt", text="three")
        says(house, "One-1", call("shell", command="echo three"), write, "counted")
        await house.deliver("please count", **BATCH)
        await house.logged("work: [One-1] counted")

        echoes = [line for line in await house.lines("One-1") if line.startswith("echo: ")]
        assert echoes[0] == "echo: three"
        assert "needs the user's yes" in echoes[1]
