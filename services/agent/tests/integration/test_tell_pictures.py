"""Pictures that an agent hands on by a line in what it tells."""

from hashlib import sha256
from pathlib import Path

from onechat.agent.v1 import image_pb2
from onechat.common.v1.chunk_pb2 import Chunk

from tests.fakes.agent_house import House, living
from tests.fakes.agent_talk import make_child, of, says
from tests.fakes.memory_server import MemoryServer
from tests.fakes.pictures import PNG
from tests.fakes.scripted_model import Purpose, ScriptedModel, call


async def test_a_picture_that_is_named_on_a_line_is_new_to_its_recipient(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        name = await stored(house)
        says(house, "", call("tell", name="House", message=f"what is it?\n[image {name}]"), "")
        says(house, "House", "a boiler")
        await house.say("ask House")
        await house.logged("work: [House] a boiler")

        assert [list(message.images) for message in await house.log("House")][:1] == [[name]]
        bodies = [record.body for record in model.requests(Purpose.TURN) if of(house, "House")(record.body)]
        content = bodies[-1]["input"][-1]["content"]
        assert [part["type"] for part in content] == ["input_text", "input_image"]


async def test_a_picture_that_is_not_stored_is_not_told_of(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """A message with a picture that nobody has would be refused by the memory, and lost."""
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        message = "look\n[image 0123456789abcdef.png]"
        says(house, "", call("tell", name="House", message=message), "")
        await house.say("ask House")

        refused = "echo: Nobody was told anything: no picture 0123456789abcdef.png is stored."
        assert refused in await house.lines()
        assert await house.lines("House") == []


async def test_words_about_pictures_bring_none(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        says(house, "", call("tell", name="House", message="the [image ../../etc/passwd.png] one"), "")
        says(house, "House", "")
        await house.say("ask House")
        await house.logged("user: the [image ../../etc/passwd.png] one", "House")

        assert [list(message.images) for message in await house.log("House")] == [[]]


async def stored(house: House) -> str:
    """A picture's stored name."""

    async def chunks():  # type: ignore[no-untyped-def]
        yield image_pb2.PutImageRequest(chunk=Chunk(content=PNG, sha256=sha256(PNG).digest()))

    answer = await house.stub().PutImage(chunks(), timeout=20)
    return str(answer.name)
