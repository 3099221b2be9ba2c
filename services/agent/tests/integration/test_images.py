"""Pictures through the whole agent service: in, to the model, again by zoom, after a restart, to the user."""

import asyncio
import base64
from collections.abc import AsyncIterable, AsyncIterator, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import grpc
import pytest
from onechat.agent.v1 import image_pb2
from onechat.common.v1.chunk_pb2 import Chunk
from onechat_agent.adapters.memory_images import MemoryImages
from onechat_agent.model.call import ModelClient
from onechat_agent.model.endpoint import Endpoint
from onechat_runtime.errors import RemoteError

from tests.fakes.agent_house import TIMEOUT_S, House, living
from tests.fakes.memory_server import PIECE, MemoryServer
from tests.fakes.pictures import PNG, drawn, opened, picture
from tests.fakes.scripted_model import Answer, Purpose, ScriptedModel, call

UNKNOWN = "0123456789abcdef.png"


async def chunks_of(content: bytes) -> AsyncIterator[image_pb2.PutImageRequest]:
    for at in range(0, len(content), PIECE):
        yield image_pb2.PutImageRequest(chunk=Chunk(content=content[at : at + PIECE]))
    yield image_pb2.PutImageRequest(chunk=Chunk(sha256=sha256(content).digest()))


async def put(house: House, content: bytes, caller: str = "operator") -> str:
    answer = await house.stub(caller).PutImage(chunks_of(content), timeout=TIMEOUT_S)
    return str(answer.name)


async def get(house: House, name: str) -> bytes:
    call = house.stub().GetImage(image_pb2.GetImageRequest(name=name), timeout=TIMEOUT_S)
    chunks = [answer.chunk async for answer in call]
    content = b"".join(chunk.content for chunk in chunks)
    assert chunks[-1].sha256 == sha256(content).digest()
    return content


def colours(parts: Sequence[dict[str, Any]]) -> list[tuple[int, ...]]:
    """The colour of each picture among the parts of an item."""
    urls = [part["image_url"] for part in parts if part["type"] == "input_image"]
    images = [opened(base64.b64decode(url.partition(",")[2])) for url in urls]
    return [image.convert("RGB").getpixel((0, 0)) for image in images]


def last_user(model: ScriptedModel) -> list[dict[str, Any]]:
    """The parts of the last user item of the newest turn request."""
    items = model.requests(Purpose.TURN)[-1].body["input"]
    return next(item["content"] for item in reversed(items) if item.get("role") == "user")


def inputs(model: ScriptedModel) -> list[list[dict[str, Any]]]:
    return [record.body["input"] for record in model.requests(Purpose.TURN)]


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


async def test_a_sender_who_is_faster_than_the_memory_is_held_up(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """An image of 20 MB is nowhere held as a whole: what the memory does not read the client cannot send."""
    sent = 0
    go_on = asyncio.Event()

    async def slow_end() -> AsyncIterator[image_pb2.PutImageRequest]:
        nonlocal sent
        async for request in chunks_of(picture(2_000_000)):
            if len(request.chunk.sha256):
                await go_on.wait()
            sent += len(request.chunk.content)
            yield request

    async with living(tmp_path, memory, model) as house:
        sending = asyncio.ensure_future(house.stub().PutImage(slow_end(), timeout=TIMEOUT_S))
        folder = tmp_path / "memory" / "memory" / "images"
        async with asyncio.timeout(TIMEOUT_S):
            while not any(one.stat().st_size == 2_000_000 for one in folder.glob("incoming-*")):
                await asyncio.sleep(0.01)  # all of it went through before its end was known
        go_on.set()

        assert (await sending).name.endswith(".png")


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


class Away(MemoryImages):
    """A way to images on which each call fails so many times first."""

    def __init__(self, inner: MemoryImages, times: int) -> None:
        self._inner = inner
        self.left = times

    def _want_there(self) -> None:
        if self.left:
            self.left -= 1
            raise RemoteError(grpc.StatusCode.UNAVAILABLE, retry_after_s=0.01)

    async def put(self, chunks: AsyncIterable[Chunk]) -> str:
        self._want_there()
        return await self._inner.put(chunks)

    async def content(self, name: str) -> bytes:
        self._want_there()
        return await self._inner.content(name)

    async def is_there(self, name: str) -> bool:
        self._want_there()
        return await self._inner.is_there(name)


async def test_without_a_memory_the_caller_is_told_to_try_again(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model, images_through=lambda images: Away(images, 9)) as house:
        with pytest.raises(RemoteError) as refused:
            await put(house, PNG)

        assert (refused.value.code, refused.value.reason) == (grpc.StatusCode.UNAVAILABLE, "NEIGHBOUR_AWAY")


async def test_a_turn_waits_for_a_memory_that_is_away_and_shows_the_picture(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say("red")
    name = (await memory.put_image(drawn(8, 8, colour="red"))).name
    async with living(tmp_path, memory, model, images_through=lambda images: Away(images, 3)) as house:
        await house.say("what colour is it?", images=[name])

        assert colours(last_user(model)) == [(255, 0, 0)]


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


# ------------------------------------------------------------ to the model


async def test_a_new_picture_is_seen_in_its_turn_and_not_in_the_next(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say("red", "and gone")
    async with living(tmp_path, memory, model) as house:
        name = await put(house, drawn(3000, 100, colour="red"))
        await house.say("what colour is it?", images=[name])
        shown = last_user(model)
        await house.say("and now?")

        assert shown[0]["text"] == f"user: what colour is it?\n[image {name}]"
        assert colours(shown) == [(255, 0, 0)]
        assert shown[1]["type"] == "input_image"
        assert "input_image" not in str(inputs(model)[-1])
        [message, *_] = await house.log()
        assert (message.text, list(message.images)) == (f"what colour is it?\n[image {name}]", [name])


async def test_a_picture_alone_is_a_message(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say("a picture")
    async with living(tmp_path, memory, model) as house:
        name = await put(house, PNG)
        await house.say("", images=[name])

        assert last_user(model)[0]["text"] == f"user: [image {name}]"
        assert len(colours(last_user(model))) == 1
        assert (await house.lines())[0] == f"user: [image {name}]"


async def test_a_picture_from_outside_stands_on_a_line_of_onechats_own(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """What others write cannot name a picture; what they sent can be seen."""
    model.say("")
    async with living(tmp_path, memory, model) as house:
        name = await put(house, PNG, "whatsapp")
        key = await house.deliver(
            f"see [image {UNKNOWN}]",
            caller="whatsapp",
            source="whatsapp:1@s.whatsapp.net",
            images=[name],
            wakes_root=True,
        )
        await house.ended(key)

        lines = last_user(model)[0]["text"].splitlines()
        assert lines[1:3] == [f"| see (image {UNKNOWN})", f"[image {name}]"]
        assert len(colours(last_user(model))) == 1


async def test_of_ten_new_pictures_the_newest_eight_are_shown_and_the_others_can_be_zoomed(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.call(call("zoom", id=0, n=1, name=None, page=None))
    model.say("ten")
    async with living(tmp_path, memory, model) as house:
        names = [await put(house, drawn(8, 8, colour=(20 * n, 0, 0))) for n in range(10)]
        await house.say("ten of them", images=names)

        first, second = inputs(model)
        assert colours(first[-1]["content"]) == [(20 * n, 0, 0) for n in range(2, 10)]
        told = first[-1]["content"][0]["text"].splitlines()[-2:]
        assert [line.split()[0] for line in told] == [f"({name}" for name in names[:2]]
        assert all("Zoom with id 0 and n 1" in line for line in told)
        assert second[: len(first)] == first
        assert len(colours(second[-1]["content"])) == 10, "the zoom shows all ten, after its result"


async def test_a_name_that_is_not_stored_is_told_in_a_line_and_the_turn_goes_on(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say("I cannot see it.")
    async with living(tmp_path, memory, model) as house:
        end = await house.say("look", images=[UNKNOWN])

        assert last_user(model)[0]["text"].splitlines()[-1] == (
            f"({UNKNOWN} cannot be shown: it is not stored, or its file is damaged.)"
        )
        assert len(last_user(model)) == 1
        assert house.seen.replies() == ["I cannot see it."]
        assert end.reason == ""


async def test_a_picture_that_cannot_be_decoded_is_told_in_a_line_and_the_turn_goes_on(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say("It is broken.")
    async with living(tmp_path, memory, model) as house:
        name = await put(house, drawn(200, 200)[:60])
        await house.say("look", images=[name])

        assert last_user(model)[0]["text"].splitlines()[-1] == (
            f"({name} cannot be shown: it cannot be decoded.)"
        )
        assert house.seen.replies() == ["It is broken."]


@pytest.mark.parametrize("name", ["photo.jpg", "/etc/passwd", f"../{UNKNOWN}", UNKNOWN.upper()])
async def test_a_delivery_names_stored_pictures_alone(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, name: str
) -> None:
    async with living(tmp_path, memory, model) as house:
        with pytest.raises(RemoteError) as refused:
            await house.deliver("look", images=[name])

        assert refused.value.reason == "DELIVERY_INVALID"


async def test_a_picture_that_joins_a_turn_is_shown_behind_what_stands_there(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    gate = model.hold(answer=Answer(text="", calls=(call("date", id=0),)))
    model.say("both seen")
    async with living(tmp_path, memory, model) as house:
        names = [await put(house, drawn(8, 8, colour=colour)) for colour in ("red", "blue")]
        key = await house.deliver("one", images=names[:1])
        await gate.reached()
        await house.deliver("two", images=names)
        gate.open()
        await house.ended(key)

        first, second = inputs(model)
        assert second[: len(first)] == first
        assert colours(second[-1]["content"]) == [(0, 0, 255)]
        assert f"({names[0]} stands with another message" in second[-1]["content"][0]["text"]


# ------------------------------------------------------------ again by zoom


@pytest.mark.parametrize("in_output", [True, False])
async def test_a_zoom_of_its_message_shows_a_picture_again(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, in_output: bool
) -> None:
    """Where the endpoint takes no pictures in a result, they come in a message of the user after it."""
    endpoint = Endpoint.of(url=model.base_url, api_key=None)
    if in_output:
        endpoint = replace(endpoint, lacks=frozenset())
    model.say("seen")
    async with living(tmp_path, memory, model, model_client=ModelClient(endpoint)) as house:
        name = await put(house, drawn(8, 8, colour="red"))
        await house.say("remember this", images=[name])
        model.call(call("zoom", id=0, n=1, name=None, page=None))
        model.say("red")
        await house.say("which colour had it?")

        items = inputs(model)[-1]
        [output] = [item for item in items if item["type"] == "function_call_output"]
        if in_output:
            assert colours(output["output"]) == [(255, 0, 0)]
        else:
            assert isinstance(output["output"], str)
            assert items[-2] == output
            assert colours(items[-1]["content"]) == [(255, 0, 0)]
        assert "echo: zoomed 0+1" in await house.lines()


async def test_a_zoom_of_lines_shows_no_picture(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say("seen")
    async with living(tmp_path, memory, model) as house:
        name = await put(house, PNG)
        await house.say("remember this", images=[name])
        model.call(call("zoom", id=0, n=2, name=None, page=None))
        model.say("done")
        await house.say("what was it?")

        assert "input_image" not in str(inputs(model)[-1])


# ------------------------------------------------------------ after a restart


async def test_after_a_restart_the_turns_own_pictures_come_back_and_those_before_it_do_not(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say("seen")
    model.call(call("zoom", id=0, n=1, name=None, page=None))
    async with living(tmp_path, memory, model) as house:
        old, new = [await put(house, drawn(8, 8, colour=colour)) for colour in ("red", "blue")]
        await house.say("the first", images=[old])
        gate = model.hold(answer=Answer(text="never sent"))
        key = await house.deliver("the second", images=[new])
        await gate.reached()
    model.say("both are here")

    async with living(tmp_path, memory, model, after=0) as house:
        await house.ended(key)

        before, after = inputs(model)[-2:]
        assert [colours(item.get("content", [])) for item in after] == [
            colours(item.get("content", [])) for item in before
        ]
        assert after[:3] == before[:3], "view, state and message, with the same bytes of the picture"
        assert colours(after[2]["content"]) == [(0, 0, 255)]
        assert colours(after[-1]["content"]) == [(255, 0, 0)], "the zoom is followed again"


async def test_a_resumed_turn_chooses_the_same_of_too_many(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """The opening's pictures had all the room, so the one that joined is not shown, then as now."""
    held = model.hold(answer=Answer(text="", calls=(call("date", id=0),)))
    async with living(tmp_path, memory, model) as house:
        names = [await put(house, drawn(8, 8, colour=(20 * n, 0, 0))) for n in range(9)]
        key = await house.deliver("eight", images=names[:8])
        await held.reached()
        gate = model.hold(answer=Answer(text="never sent"))
        await house.deliver("and one", images=names[8:])
        held.open()
        await gate.reached()
    model.say("done")

    async with living(tmp_path, memory, model, after=0) as house:
        await house.ended(key)

        before, after = inputs(model)[-2:]
        said = [[item for item in items if item.get("role") == "user"] for items in (before, after)]
        assert said[0] == said[1]
        assert "is not shown" in said[0][-1]["content"][0]["text"]


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
