"""A group that the user founded: its id holds the user's number and is shown with OWN in its place.

The agent knows no other form of it, so routes and sends take this one. That the gateway shows it in first
lines and in what is found, and sends to the real one: its own tests.
"""

from pathlib import Path

from tests.fakes.agent_house import living
from tests.fakes.agent_talk import make_child, says
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import ScriptedModel, call
from tests.fakes.whatsapp_servicer import Message, WhatsAppServicer, whatsapp_serving

GROUP = "OWN-1500000000@g.us"
SOURCE = f"whatsapp:{GROUP}"
FIRST_LINE = f'[WhatsApp] "Old friends" ({GROUP})'


async def test_a_route_of_it_is_found_by_the_batches_that_come_from_it(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        says(house, "", call("route", source=SOURCE, agent="House"), "House has it")
        await house.say("give that group to House")
        before = await house.lines()
        says(house, "House", "")
        await house.ended(await house.deliver(f"{FIRST_LINE}\nhello", caller="whatsapp", source=SOURCE))

        assert f"echo: {SOURCE} goes to House from now on, not to you." in before
        assert [line.split("\n")[1:3] for line in await house.lines("House")] == [
            [f"| {FIRST_LINE}", "| hello"]
        ]
        assert await house.lines() == before


async def test_a_send_to_it_names_it_as_it_is_shown(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    gateway = WhatsAppServicer()
    gateway.add(GROUP, "Old friends")
    async with whatsapp_serving(gateway) as there, living(tmp_path, memory, model, whatsapp=there) as house:
        says(
            house,
            "",
            call("whatsapp_find", name="old"),
            call("whatsapp_send", id="1", chat=GROUP, text="hello", image=None),
            "It is out.",
        )
        await house.say("greet my old friends")

        assert f"echo: {GROUP} | Old friends | group" in await house.lines()
        assert gateway.left == [Message(chat=GROUP, text="hello")]
