"""Pictures at the agent service's door: in, out, and to the user."""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator
from hashlib import sha256
from pathlib import Path

import grpc
import pytest
from onechat.agent.v1 import image_pb2
from onechat.common.v1.chunk_pb2 import Chunk
from onechat_agent.adapters.memory_images import MemoryImages
from onechat_runtime.errors import RemoteError

from tests.fakes.agent_house import TIMEOUT_S, living
from tests.fakes.memory_server import PIECE, MemoryServer
from tests.fakes.picture_talk import UNKNOWN, Away, chunks_of, get, inputs, last_user, put
from tests.fakes.pictures import PNG, picture
from tests.fakes.scripted_model import Answer, ScriptedModel, call

# ------------------------------------------------------------ in and out


async def test_an_image_comes_in_through_the_agent_and_out_again(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    content = picture(300_000)
    async with living(tmp_path, memory, model) as house:
        first = await put(house, content)
        again = await put(house, content, "whatsapp")

        assert first == again == f"{sha256(content).hexdigest()[:16]}.png"
        assert await get(house, first) == content


async def test_what_is_no_image_is_refused_in_the_memorys_own_words(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        with pytest.raises(RemoteError) as refused:
            await put(house, b"no image at all, but long enough to be one")

        assert (refused.value.code, refused.value.reason) == (
            grpc.StatusCode.INVALID_ARGUMENT,
            "IMAGE_INVALID",
        )
        assert "PNG" in refused.value.message


async def test_one_that_is_too_large_is_refused_while_it_is_being_sent(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        with pytest.raises(RemoteError) as refused:
            await put(house, picture(20_000_001))

        assert refused.value.reason == "IMAGE_INVALID"
        assert "20 MB" in refused.value.message


async def test_an_unknown_image_is_not_found(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        for name in (UNKNOWN, "../store.db", ""):
            with pytest.raises(RemoteError) as refused:
                await get(house, name)
            assert (refused.value.code, refused.value.reason) == (
                grpc.StatusCode.NOT_FOUND,
                "IMAGE_UNKNOWN",
            )


async def test_one_whose_file_is_damaged_is_not_given_out_and_is_told_to_the_model(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say("I cannot see it.")
    async with living(tmp_path, memory, model) as house:
        name = await put(house, PNG)
        (tmp_path / "memory" / "memory" / "images" / name).write_bytes(PNG[:-1] + b"x")

        with pytest.raises(RemoteError) as refused:
            await get(house, name)
        await house.say("look", images=[name])

        assert refused.value.reason == "IMAGE_UNKNOWN"
        assert "damaged" in refused.value.message
        assert "or its file is damaged" in last_user(model)[0]["text"]


async def test_an_image_is_passed_on_while_it_comes(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    go_on = asyncio.Event()

    async def late_end() -> AsyncIterator[image_pb2.PutImageRequest]:
        async for request in chunks_of(picture(2_000_000)):
            if request.chunk.sha256:
                await go_on.wait()
            yield request

    async with living(tmp_path, memory, model) as house:
        sending = asyncio.ensure_future(house.stub().PutImage(late_end(), timeout=TIMEOUT_S))
        folder = tmp_path / "memory" / "memory" / "images"
        async with asyncio.timeout(TIMEOUT_S):
            while not any(one.stat().st_size == 2_000_000 for one in folder.glob("incoming-*")):
                await asyncio.sleep(0.01)
        go_on.set()

        assert (await sending).name.endswith(".png")


class Slow(MemoryImages):
    """A memory that takes one piece and then none until it may go on."""

    def __init__(self, inner: MemoryImages, go_on: asyncio.Event) -> None:
        self._inner = inner
        self._go_on = go_on

    async def put(self, chunks: AsyncIterable[Chunk]) -> str:
        async def slowly() -> AsyncIterator[Chunk]:
            async for chunk in chunks:
                yield chunk
                await self._go_on.wait()

        return await self._inner.put(slowly())


async def test_a_sender_who_is_faster_than_the_memory_is_held_up(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """What the memory does not take is not sent: an image of 20 MB is nowhere here as a whole."""
    sent, go_on = 0, asyncio.Event()

    async def counted() -> AsyncIterator[image_pb2.PutImageRequest]:
        nonlocal sent
        async for request in chunks_of(picture(20_000_000)):
            yield request
            sent += len(request.chunk.content)

    async with living(tmp_path, memory, model, images_through=lambda images: Slow(images, go_on)) as house:
        sending = asyncio.ensure_future(house.stub().PutImage(counted(), timeout=60))
        before = -1
        async with asyncio.timeout(TIMEOUT_S):
            while not 0 < sent == before:  # until no more goes out
                before = sent
                await asyncio.sleep(0.3)
        held = sent
        go_on.set()

        assert (await sending).name.endswith(".png")
        assert held < 8_000_000


async def test_a_sender_who_goes_away_leaves_nothing_behind(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async def broken_off() -> AsyncIterator[image_pb2.PutImageRequest]:
        yield image_pb2.PutImageRequest(chunk=Chunk(content=picture(PIECE)))
        await asyncio.Event().wait()

    folder = tmp_path / "memory" / "memory" / "images"
    async with living(tmp_path, memory, model) as house:
        sending = house.stub().PutImage(broken_off(), timeout=TIMEOUT_S)
        async with asyncio.timeout(TIMEOUT_S):
            while not list(folder.glob("incoming-*")):
                await asyncio.sleep(0.01)
        sending.cancel()

        async with asyncio.timeout(TIMEOUT_S):
            while list(folder.iterdir()):
                await asyncio.sleep(0.01)


async def test_without_a_memory_the_caller_is_told_to_try_again(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model, images_through=lambda images: Away(images, 9)) as house:
        with pytest.raises(RemoteError) as refused:
            await put(house, PNG)

        assert (refused.value.code, refused.value.reason) == (grpc.StatusCode.UNAVAILABLE, "NEIGHBOUR_AWAY")


async def test_a_picture_that_cannot_be_looked_for_is_not_shown_and_the_model_is_told(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    name = (await memory.put_image(PNG)).name
    model.call(call("image_show", image=name, caption=""))
    model.say("not now")
    async with living(tmp_path, memory, model, images_through=lambda images: Away(images, 1)) as house:
        await house.say("show it")

        [output] = [item for item in inputs(model)[-1] if item["type"] == "function_call_output"]
        assert output["output"] == "The memory service could not be reached: nothing was shown."
        assert house.seen.events("image") == []


# ------------------------------------------------------------ to the user


async def test_the_root_shows_a_stored_picture_to_the_user(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        name = await put(house, PNG)
        model.call(call("image_show", image=name, caption="the boiler"))
        model.say("there it is")
        key = await house.deliver("show it to me", reply_to={"chat": "c7"})
        await house.ended(key)

        [event] = house.seen.events("image")
        assert (event.image.image, event.image.caption, event.agent) == (name, "the boiler", "One")
        [answered] = event.image.answered
        assert (answered.key, answered.reply_to.chat) == (key, "c7")


@pytest.mark.parametrize("image", [UNKNOWN, "/etc/passwd", "a.png"])
async def test_what_is_not_stored_is_not_shown_and_the_model_is_told(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, image: str
) -> None:
    model.call(call("image_show", image=image, caption=""))
    model.say("I have no such picture.")
    async with living(tmp_path, memory, model) as house:
        await house.say("show it")

        assert house.seen.events("image") == []
        [output] = [item for item in inputs(model)[-1] if item["type"] == "function_call_output"]
        assert output["output"].startswith("Nothing was shown")


async def test_a_call_that_a_restart_interrupts_shows_the_picture_once(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """The event is on disk, and the call's result is not in the log: the call is made again."""
    async with living(tmp_path, memory, model) as house:
        name = await put(house, PNG)
        model.say(
            Answer(
                text="",
                calls=(call("image_show", image=name, caption="x"), call("shell", command="sleep 600")),
            )
        )
        key = await house.deliver("show it")
        await house.seen.until(lambda seen: bool(seen.events("image")))
    model.say("done")

    async with living(tmp_path, memory, model, after=0) as house:
        await house.ended(key)

        assert len(house.seen.events("image")) == 1
        assert f"echo: Shown to the user: {name}" in await house.lines()
