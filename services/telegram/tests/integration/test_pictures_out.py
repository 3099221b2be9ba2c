"""Pictures that the agent shows reach the owner's chat: as photos, as files where Telegram takes no photo."""

import hashlib
from typing import Any

import pytest
from grpc import StatusCode
from onechat.agent.v1 import event_pb2
from onechat_telegram.domain.outgoing import PHOTO_BYTES_MAX
from onechat_telegram.domain.wording import REPEAT_MARK
from onechat_telegram.putting import FETCH_TRIES

from tests.fakes.agent_servicer import AgentServicer
from tests.fakes.bot_api import OWNER, BotApi
from tests.fakes.pictures import GIF, drawn, picture
from tests.fakes.telegram_bench import Bench, Running

JPEG = drawn(40, 30, "JPEG")
PNG = drawn(60, 20)


def stored(agent: AgentServicer, content: bytes, ending: str = ".png") -> str:
    """The name of a picture that the agent has."""
    name = f"{hashlib.sha256(content).hexdigest()[:16]}{ending}"
    agent.images[name] = content
    return name


async def show(agent: AgentServicer, image: str, caption: str = "") -> None:
    await agent.tell(image=event_pb2.ShownImage(image=image, caption=caption))


def content_of(api: BotApi, shown: dict[str, Any]) -> bytes:
    """The bytes that were sent as a photo or a file."""
    return api.files.data_of(shown)


async def test_a_picture_is_a_photo_with_its_caption_in_its_place(running: Running) -> None:
    name = stored(running.agent, JPEG, ".jpg")

    await running.agent.reply("before")
    await show(running.agent, name, "the **boiler**")
    await running.agent.reply("after")
    await running.api.until(lambda: len(running.api.sent) == 3)

    message = running.api.sent[1]
    assert content_of(running.api, message["photo"][-1]) == JPEG
    assert message["caption"] == "the boiler"
    assert [entity["type"] for entity in message["caption_entities"]] == ["bold"]
    assert running.api.texts() == ["before", "the boiler", "after"]


async def test_a_picture_without_a_caption_has_none(running: Running) -> None:
    await show(running.agent, stored(running.agent, PNG))
    await running.api.until(lambda: bool(running.api.sent))

    assert "photo" in running.api.sent[0]
    assert "caption" not in running.api.sent[0]


async def test_a_long_caption_follows_its_picture(running: Running) -> None:
    await show(running.agent, stored(running.agent, PNG), "word " * 400)
    await running.api.until(lambda: len(running.api.sent) == 2)

    assert running.api.texts() == ["", ("word " * 400).strip()]


@pytest.mark.parametrize(
    ("content", "ending"),
    [
        (drawn(21, 1), ".png"),
        (drawn(9_990, 11), ".png"),
        (picture(PHOTO_BYTES_MAX + 1), ".png"),
        (GIF, ".gif"),
    ],
    ids=["too-long", "too-wide", "over-10-MB", "moving"],
)
async def test_what_telegram_takes_for_no_photo_goes_as_a_file(
    running: Running, content: bytes, ending: str
) -> None:
    name = stored(running.agent, content, ending)

    await show(running.agent, name, "the **boiler**")
    await running.api.until(lambda: bool(running.api.sent))

    [message] = running.api.sent
    assert message["document"]["file_name"] == name
    assert content_of(running.api, message["document"]) == content
    assert (message["caption"], len(message["caption_entities"])) == ("the boiler", 1)


async def test_a_picture_that_is_gone_is_said_and_what_follows_goes_on(running: Running) -> None:
    await show(running.agent, "0123456789abcdef.png", "the boiler")
    await running.agent.reply("after")
    await running.api.until(lambda: len(running.api.sent) == 2)

    assert running.api.texts() == [
        "the boiler\nThe picture 0123456789abcdef.png could not be shown: it is not stored, or damaged.",
        "after",
    ]


async def test_a_picture_waits_for_an_agent_service_that_is_away(bench: Bench) -> None:
    bench.api.chats.add(OWNER)
    bench.agent.fail("GetImage", code=StatusCode.ABORTED, times=FETCH_TRIES - 1)

    async with bench.running(), bench.time_flies():
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        await show(bench.agent, stored(bench.agent, PNG), "the boiler")
        await bench.agent.reply("after")
        await bench.api.until(lambda: len(bench.api.sent) == 2)

    assert "photo" in bench.api.sent[0]
    assert bench.api.texts() == ["the boiler", "after"]


async def test_a_picture_that_cannot_be_fetched_for_long_does_not_hold_up_the_chat(bench: Bench) -> None:
    bench.api.chats.add(OWNER)
    bench.agent.fail("GetImage", code=StatusCode.ABORTED, times=FETCH_TRIES)

    async with bench.running(), bench.time_flies():
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        await show(bench.agent, stored(bench.agent, PNG))
        await bench.agent.reply("after")
        await bench.api.until(lambda: len(bench.api.sent) == 2)

    assert "could not be shown" in bench.api.texts()[0]
    assert bench.api.texts()[1] == "after"


async def test_what_telegram_refuses_in_every_form_is_said(running: Running) -> None:
    name = stored(running.agent, PNG)
    running.api.fail("sendPhoto", code=400, times=None, description="Bad Request: IMAGE_PROCESS_FAILED")
    running.api.fail("sendDocument", code=400, times=None, description="Bad Request: wrong file")

    await show(running.agent, name, "**no**")
    await running.api.until(lambda: bool(running.api.sent))

    assert running.api.texts() == [f"**no**\nThe picture {name} could not be shown: Telegram refuses it."]


async def test_a_picture_without_an_answer_is_repeated_once_and_marked(running: Running) -> None:
    running.api.fail("sendPhoto", how="lose")

    await show(running.agent, stored(running.agent, PNG), "the boiler")
    await running.agent.reply("next")
    await running.api.until(lambda: running.api.texts()[-1:] == ["next"])

    assert running.api.texts() == ["the boiler", f"the boiler{REPEAT_MARK}", "next"]
    assert all("photo" in message for message in running.api.sent[:2])


async def test_429_on_a_picture_waits_and_sends_it_once(bench: Bench) -> None:
    bench.api.chats.add(OWNER)
    bench.api.fail("sendPhoto", code=429, retry_after=30)

    async with bench.running():
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        await show(bench.agent, stored(bench.agent, PNG))
        await bench.clock.until_sleeping()
        assert 30.0 in bench.clock.sleepers
        bench.clock.advance(30)
        await bench.api.until(lambda: bool(bench.api.sent))

    assert len(bench.api.sent) == 1
