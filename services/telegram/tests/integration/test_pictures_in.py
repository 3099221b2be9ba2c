"""Pictures of the owner reach the agent: fetched, measured, stored before the message that names them."""

import asyncio
from collections.abc import Mapping
from typing import Any

import grpc
import pytest
from onechat_runtime.settings import Secret
from onechat_telegram.adapters.file_download import FileDownload
from onechat_telegram.domain.bot_errors import BotApiError, FileTooLarge, NotReached, Refused
from onechat_telegram.domain.message_kinds import PICTURE_MAX
from onechat_telegram.domain.wording import PICTURE_NOT_FETCHED, PICTURE_TOO_LARGE, PICTURE_UNKNOWN
from onechat_telegram.images import TRIES

from tests.fakes.bot_api import OWNER, TOKEN
from tests.fakes.pictures import GIF, PNG, drawn, picture
from tests.fakes.telegram_bench import Bench, Running

UNSEEN = "[sent with it, but not to be seen here: a picture]"


def contents(running: Running) -> list[list[bytes]]:
    """The pictures of each delivery."""
    agent = running.agent
    return [[agent.images[name] for name in one.images] for one in agent.deliveries.values()]


async def test_a_photo_goes_at_its_largest_size_with_its_caption(running: Running) -> None:
    photo = drawn(900, 600)

    message = running.api.people.show_photo(photo, "what is this?")
    await running.agent.until(lambda: bool(running.agent.deliveries))

    assert contents(running) == [[photo]]
    [(key, delivery)] = running.agent.deliveries.items()
    assert key == f"telegram:{running.api.bot_id}:{OWNER}:{message}"
    assert (delivery.text, delivery.source, delivery.backed) == ("what is this?", "user", True)


async def test_a_photo_without_words_is_a_message(running: Running) -> None:
    running.api.people.show_photo(PNG)

    await running.agent.until(lambda: bool(running.agent.deliveries))

    assert running.agent.texts() == [""]
    assert contents(running) == [[PNG]]


async def test_an_image_sent_as_a_file_goes_unchanged(running: Running) -> None:
    running.api.people.show_file(GIF, "moving", name="a.gif", mime="image/gif")

    await running.agent.until(lambda: bool(running.agent.deliveries))

    assert contents(running) == [[GIF]]


async def test_an_album_of_three_is_one_message_with_all_captions_and_pictures_in_order(
    running: Running, bench: Bench
) -> None:
    photos = [(drawn(side, side), caption) for side, caption in ((50, "a"), (60, "b"), (70, "c"))]

    first, *_ = running.api.people.show_album(photos)
    async with bench.time_flies():
        await running.agent.until(lambda: bool(running.agent.deliveries))

    [(key, delivery)] = running.agent.deliveries.items()
    assert key.endswith(f":{first}")
    assert delivery.text == "a\nb\nc"
    assert contents(running) == [[photo for photo, _ in photos]]


async def test_the_edit_of_a_caption_brings_its_picture_again(running: Running) -> None:
    message = running.api.people.show_photo(PNG, "helo")
    running.api.edit(message, "hello", edit_date=1_900_000_000)

    await running.agent.until(lambda: len(running.agent.deliveries) == 2)

    assert contents(running) == [[PNG], [PNG]]
    assert running.agent.texts()[1].endswith("\nhello")


async def test_what_claims_to_be_too_large_is_not_fetched(running: Running) -> None:
    running.api.people.show_file(PNG, "look", mime="image/png", size=PICTURE_MAX + 1)

    await running.api.until(lambda: bool(running.api.sent))

    assert running.api.texts() == [PICTURE_TOO_LARGE]
    assert running.agent.texts() == [f"look\n{UNSEEN}"]
    assert running.api.calls["getFile"] == 0


async def test_what_is_larger_than_it_claims_is_not_read_on(running: Running) -> None:
    """The size that came with the message is anybody's claim."""
    running.api.people.show_file(picture(PICTURE_MAX + 1), mime="image/png", size=1000)
    running.api.say("after it")

    await running.agent.until(lambda: bool(running.agent.deliveries))
    await running.api.until(lambda: bool(running.api.sent))

    assert running.api.texts() == [PICTURE_TOO_LARGE]
    assert running.agent.texts() == ["after it"]
    assert running.agent.calls["PutImage"] == 0


async def test_a_photo_whose_largest_size_is_too_large_goes_at_the_next(running: Running) -> None:
    huge = running.api.files.document(picture(PICTURE_MAX + 1), size=1000)
    small = running.api.files.document(PNG)
    sizes = [small | {"width": 90, "height": 90}, huge | {"width": 900, "height": 900}]

    running.api.people.post({"photo": sizes})
    await running.agent.until(lambda: bool(running.agent.deliveries))

    assert contents(running) == [[PNG]]


async def test_a_size_that_telegram_does_not_give_out_is_left_for_the_next(running: Running) -> None:
    running.api.fail("getFile", code=400, description="Bad Request: file is too big")
    sizes = running.api.files.photo(drawn(900, 600))

    running.api.people.post({"photo": sizes})
    await running.agent.until(lambda: bool(running.agent.deliveries))

    second = sorted(sizes, key=lambda size: int(size["width"]))[-2]
    assert contents(running) == [[running.api.files.data_of(second)]]
    assert not running.api.sent


async def test_a_file_that_telegram_names_no_place_of_is_told(running: Running) -> None:
    async def nowhere(fields: Mapping[str, Any]) -> dict[str, Any]:
        return {"file_id": fields["file_id"]}

    running.api.methods["getFile"] = nowhere
    running.api.people.show_photo(PNG)
    await running.api.until(lambda: bool(running.api.sent))

    assert running.api.texts() == [PICTURE_NOT_FETCHED]
    assert running.api.calls["file"] == 0


async def test_a_file_that_is_no_picture_is_told_and_its_words_go_on(running: Running) -> None:
    running.api.people.show_file(b"#!/bin/sh", "look", name="a.png", mime="image/png")

    await running.api.until(lambda: bool(running.api.sent))

    assert running.api.texts() == [PICTURE_UNKNOWN]
    assert running.agent.texts() == [f"look\n{UNSEEN}"]


async def test_what_is_wrong_with_several_pictures_of_an_album_is_told_once(
    running: Running, bench: Bench
) -> None:
    for content, caption in ((b"no picture", "a"), (b"none", "b"), (PNG, "c")):
        running.api.people.show_file(content, caption, mime="image/png", media_group_id="album-1")

    async with bench.time_flies():
        await running.api.until(lambda: bool(running.api.sent))

    assert running.api.texts() == [PICTURE_UNKNOWN]
    assert running.agent.texts() == [f"a\nb\nc\n{UNSEEN[:-1]}, a picture]"]
    assert contents(running) == [[PNG]]


async def test_a_picture_waits_for_what_passes_and_what_came_after_it_too(bench: Bench) -> None:
    async with bench.running() as running, bench.time_flies():
        running.api.fail("getFile", code=429, retry_after=30)
        running.api.fail("getFile", code=502)
        running.api.fail("file", code=500)
        running.api.fail("file", how="drop")
        running.agent.fail("PutImage", code=grpc.StatusCode.UNAVAILABLE, times=2)
        running.api.people.show_photo(PNG, "look")
        running.api.say("after it")
        await running.agent.until(lambda: len(running.agent.deliveries) == 2)

    assert bench.agent.texts() == ["look", "after it"]
    assert contents(running) == [[PNG], []]
    assert bench.agent.calls["Deliver"] == 2


async def test_a_picture_that_is_never_to_be_had_holds_up_nothing_for_ever(bench: Bench) -> None:
    async with bench.running() as running, bench.time_flies():
        running.api.fail("file", code=500, times=None)
        running.api.people.show_photo(PNG)
        running.api.say("after it")
        await running.agent.until(lambda: bool(running.agent.deliveries))
        await running.api.until(lambda: bool(running.api.sent))

    assert bench.agent.texts() == ["after it"]
    assert bench.api.texts() == [PICTURE_NOT_FETCHED]
    assert bench.api.calls["file"] == TRIES


async def test_a_file_that_telegram_has_no_more_is_told_at_once(running: Running) -> None:
    running.api.fail("getFile", code=400, description="Bad Request: wrong file_id")

    running.api.people.show_photo(PNG, "look")
    await running.api.until(lambda: bool(running.api.sent))

    assert running.api.texts() == [PICTURE_NOT_FETCHED]
    assert running.agent.texts() == [f"look\n{UNSEEN}"]


async def test_while_telegram_is_away_no_picture_is_given_up(bench: Bench) -> None:
    async with bench.running() as running:
        held = running.api.fail("getFile", how="hold")
        running.api.people.show_photo(PNG, "look")
        await running.api.until(lambda: running.api.calls["getFile"] == 1)
        running.api.fail("getUpdates", code=502, times=None)
        running.api.fail("file", code=502, times=None)
        running.api.say("after it")  # ends the poll that waits
        async with bench.time_flies():
            await running.api.until(lambda: running.api.calls["getUpdates"] > 4)
            polled = running.api.calls["getUpdates"]
            held.released.set()
            await running.api.until(lambda: running.api.calls["getUpdates"] > polled + 2 * TRIES)
            assert running.api.calls["file"] == 1
            running.api.heal()
            await running.agent.until(lambda: len(running.agent.deliveries) == 2)

    assert contents(running) == [[PNG], []]


@pytest.fixture
async def download(bench: Bench):  # type: ignore[no-untyped-def]
    made = FileDownload(Secret(TOKEN), bench.api.address, outside=False, certificates=None)
    yield made
    await made.close()


async def test_a_file_is_fetched_up_to_the_size_that_is_wanted(bench: Bench, download: FileDownload) -> None:
    shown = bench.api.files.document(b"x" * 1000, name="a.p#n?g %41")
    path = (await bench.api.files.get_file({"file_id": shown["file_id"]}))["file_path"]

    assert await download.content(path, 1000) == b"x" * 1000
    with pytest.raises(FileTooLarge):
        await download.content(path, 999)


@pytest.mark.parametrize("path", ["/etc/passwd", "photos/../../x", "a\nb"])
async def test_a_path_on_a_disk_is_not_fetched(bench: Bench, download: FileDownload, path: str) -> None:
    """A Bot API server of one's own names such; another one that does so wants to have a file read."""
    with pytest.raises(Refused, match="its own disk"):
        await download.content(path, 1000)

    assert bench.api.calls["file"] == 0


async def test_a_download_goes_nowhere_else_and_takes_the_bytes_as_they_are() -> None:
    """Where the server names another address, that is not Telegram's; packed bytes could be any number."""
    heard: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        download = FileDownload(Secret(TOKEN), f"http://127.0.0.1:{port}", outside=False, certificates=None)
        with pytest.raises(Refused):
            await download.content("photos/file_1.jpg", 1000)
        await download.close()

    [request] = heard
    assert b"accept-encoding: identity\r\n" in request.lower()


@pytest.mark.parametrize(
    ("trouble", "error"),
    [
        ({"how": "drop"}, NotReached),
        ({"code": 500}, NotReached),
        ({"code": 429}, NotReached),
        ({"code": 404}, Refused),
    ],
)
async def test_no_error_of_a_download_knows_the_token(
    bench: Bench, download: FileDownload, trouble: dict[str, object], error: type[BotApiError]
) -> None:
    bench.api.fail("file", **trouble)

    with pytest.raises(error) as raised:
        await download.content("photos/file_1.jpg", 1000)

    assert TOKEN not in f"{raised.value!r} {raised.value.__cause__!r} {raised.value.__context__!r}"
