"""What a subagent has of its owner, and which of them an owner sees at work: its own and nobody else's."""

from pathlib import Path

from onechat_agent.adapters import delivery_rows

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


async def test_a_task_hands_on_whether_the_user_stands_behind_it_and_what_was_read_before(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """Else a batch, or a file, would have its way by a subagent."""
    async with living(tmp_path, memory, model) as house:
        spawn = call("spawn", tasks=["count"], effort=None)
        says(house, "", spawn, "", call("shell", command="echo read"), spawn, "")
        await house.say("use one")
        await house.say("read it and use one")
        says(house, "", spawn, "")
        await house.ended(await house.deliver("use one", **BATCH))

        tasks = house.store.read(
            lambda db: [
                delivery_rows.newest(db, agent=house.id_of(name), state=None, key="", before=None, limit=1)[0]
                for name in ("One-1", "One-2", "One-3")
            ]
        )
        assert [(task.backed, task.tainted) for task in tasks[:2]] == [(True, False), (True, True)]
        assert not tasks[2].backed
