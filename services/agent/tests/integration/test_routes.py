"""Routes: which child gets what comes from a chat, whom it wakes, and what becomes of it without a child."""

import shutil
from pathlib import Path

from onechat.agent.v1 import agent_service_pb2
from onechat_agent.prompts import remarks

from tests.fakes.agent_house import House, living
from tests.fakes.agent_talk import always, holds, make_child, says
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import Purpose, ScriptedModel, call

CHAT = "whatsapp:15550002222@s.whatsapp.net"
ROUTE = call("route", source=CHAT, agent="House")
UNROUTE = call("unroute", source=CHAT)


async def test_a_routed_batch_enters_and_wakes_its_child_alone(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """Also one that would not have waked the root, such as a group's that mentions nobody."""
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        says(house, "", ROUTE, "House has it")
        await house.say("give that chat to House")
        before = await house.lines()
        says(house, "House", "")
        await house.ended(await batch(house, "the plumber comes"))

        assert await house.lines("House") == [
            f"work: [WhatsApp] {CHAT}:\n| the plumber comes\n{remarks.MAY_BE_EMPTY}"
        ]
        assert await house.lines() == before
        assert f"echo: {CHAT} goes to House from now on, not to you." in before


async def test_a_batch_that_wakes_nobody_has_no_line_on_the_empty_reply(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await batch(house, "chatter")
        await house.memory_holds(1)

        assert await house.lines() == [f"work: [WhatsApp] {CHAT}:\n| chatter"]


async def test_after_unroute_what_comes_is_the_roots_and_what_the_child_has_stays(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        says(house, "", ROUTE, "")
        await house.say("give that chat to House")
        gate = holds(house, "House", "")
        first = await batch(house, "one")
        await gate.reached()
        second = await batch(house, "two")
        says(house, "", UNROUTE, "")
        await house.say("take it back")
        says(house, "", "")
        await house.ended(await batch(house, "three", wakes_root=True))
        says(house, "House", "")
        gate.open()
        await house.ended(first)
        await house.ended(second)

        assert await said(house, "House") == ["| one", "| two"]
        assert await said(house, "") == ["| three"]


async def test_routes_are_listed_for_the_root_and_for_clients(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        child = await make_child(house, "House")
        says(house, "", ROUTE, call("routes"), UNROUTE, call("routes"), UNROUTE, "")
        says_routes = await listed(house)
        await house.say("try it")

        assert says_routes == []
        echoes = [line.removeprefix("echo: ") for line in await house.lines() if line.startswith("echo: ")]
        assert echoes[1:] == [
            f"{CHAT} goes to House from now on, not to you.",
            f"{CHAT} goes to House",
            f"{CHAT} comes to you from now on, and no longer to House.",
            "No chat is routed: all of them come to you.",
            f"Nothing is routed from {CHAT}; `routes` lists what is.",
        ]
        says(house, "", ROUTE, "")
        await house.say("again")
        assert await listed(house) == [(CHAT, child, "House")]


async def test_another_form_of_source_and_an_agent_that_is_no_child_are_refused(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        wrong = ("15550002222@s.whatsapp.net", "telegram:1", "user", "whatsapp:", "whatsapp:1@g.us x", "\0")
        says(house, "", *(call("route", source=source, agent="House") for source in wrong))
        says(house, "", *(call("route", source=CHAT, agent=name) for name in ("One", "Garden")), "")
        await house.say("route it all")

        echoes = [line for line in await house.lines() if line.startswith("echo: Nothing was routed: ")]
        assert len(echoes) == len(wrong) + 2
        assert echoes[-1] == "echo: Nothing was routed: no child has that name; there is House."
        assert await listed(house) == []


async def test_a_route_is_moved_to_another_child(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        other = await make_child(house, "Garden")
        says(house, "", ROUTE, call("route", source=CHAT, agent="garden"), "")
        await house.say("to House; no, to Garden")

        assert await listed(house) == [(CHAT, other, "Garden")]
        assert f"echo: {CHAT} goes to Garden from now on, not to House." in await house.lines()


async def test_what_is_routed_to_a_child_that_is_gone_comes_to_the_root(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        says(house, "", ROUTE, "")
        await house.say("give that chat to House")
    shutil.rmtree(tmp_path / "data" / "agent" / "agents" / "House")
    async with living(tmp_path, memory, model) as house:
        says(house, "", "I read it", call("routes"), "")
        await house.ended(await batch(house, "anybody there?", wakes_root=True))
        await house.say("who has that chat?")

        lines = await house.lines()
        came = [remarks.instead_of("House"), f"[WhatsApp] {CHAT}:", "| anybody there?", remarks.MAY_BE_EMPTY]
        assert "work: " + "\n".join(came) in lines
        assert lines[-1] == f"echo: {CHAT} goes to House, who is not there any more: it comes to you"


async def test_what_is_for_an_agent_that_is_gone_comes_to_the_root_and_says_so(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        child = await make_child(house, "House")
    shutil.rmtree(tmp_path / "data" / "agent" / "agents" / "House")
    async with living(tmp_path, memory, model) as house:
        always(house, "", "")
        await house.say("water the roses", to=child)
        await house.say("who is that?", to="0123456789abcdef")

        assert (await house.lines())[-2:] == [
            f"user: {remarks.instead_of('House')}\nwater the roses",
            f"user: {remarks.instead_of('an agent')}\nwho is that?",
        ]


async def test_what_a_child_had_queued_goes_to_the_root_and_is_nobodys_word(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """What the root told its child must not come back to it as the user's."""
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        says(house, "", call("tell", name="House", message="sell the house"), "")
        gate = holds(house, "House", "never said")
        await house.say("tell it")
        await gate.reached()
    shutil.rmtree(tmp_path / "data" / "agent" / "agents" / "House")
    async with living(tmp_path, memory, model) as house:
        always(house, "", "")
        await house.say("hello")
        await house.logged(f"work: {remarks.instead_of('House')}\nsell the house")

        assert not any(line.startswith("user:") and "sell" in line for line in await house.lines())


async def test_a_catch_up_over_several_agents_is_taken_by_each_once_all_of_it_is_there(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    fields = {"group": "catch-up", "group_count": 3}
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        says(house, "", ROUTE, "")
        await house.say("give that chat to House")
        requests = len(model.requests(Purpose.TURN))
        always(house, "House", "")
        always(house, "", "")
        first = await batch(house, "one", **fields)
        second = await batch(house, "two", source="whatsapp:2@s.whatsapp.net", wakes_root=True, **fields)
        assert len(model.requests(Purpose.TURN)) == requests
        third = await batch(house, "three", **fields)

        assert [one.key for one in (await house.ended(first)).answered] == [first, third]
        assert [one.key for one in (await house.ended(second)).answered] == [second]


async def batch(house: House, text: str, **fields: object) -> str:
    """A batch of the chat, from WhatsApp's gateway; its key."""
    return await house.deliver(text, caller="whatsapp", **{"source": CHAT, **fields})


async def said(house: House, name: str) -> list[str]:
    """The first line of each batch in an agent's log."""
    return [line.split("\n")[1] for line in await house.lines(name) if line.startswith("work:")]


async def listed(house: House) -> list[tuple[str, str, str]]:
    """(source, agent's id, agent's name) as clients see them."""
    answer = await house.stub().ListRoutes(agent_service_pb2.ListRoutesRequest(), timeout=20)
    return [(one.source, one.agent_id, one.agent) for one in answer.routes]
