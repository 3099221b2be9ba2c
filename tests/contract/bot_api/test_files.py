"""Photos and files, both ways: sizes, limits, ids, downloads."""

import aiohttp
import pytest
from telegram.error import BadRequest

from tests.fakes.bot_api import OWNER
from tests.fakes.bot_api_files import DOWNLOAD_MAX, PHOTO_MAX, UPLOAD_MAX, Files
from tests.fakes.bot_api_refusals import RefusedByBotApi
from tests.fakes.pictures import PNG, drawn, opened

WIDE = drawn(1000, 500, "JPEG")


async def received(call):
    [update] = (await call("getUpdates")).result
    return update["message"]


async def test_a_photo_comes_in_sizes_of_which_the_last_is_the_largest(api, call):
    api.people.show_photo(WIDE, "wide")

    message = await received(call)

    sizes = [(size["width"], size["height"]) for size in message["photo"]]
    assert sizes == [(90, 45), (320, 160), (800, 400), (1000, 500)]
    assert message["caption"] == "wide"
    assert "text" not in message


async def test_each_size_can_be_downloaded_and_is_the_picture_that_it_says(api, call):
    api.people.show_photo(WIDE)

    for size in (await received(call))["photo"]:
        file = (await call("getFile", file_id=size["file_id"])).result
        status, content = await call.download(file["file_path"])

        assert status == 200
        assert len(content) == file["file_size"] == size["file_size"]
        assert opened(content).size == (size["width"], size["height"])


async def test_a_file_comes_unchanged_with_its_name_its_type_and_a_thumbnail(api, call):
    api.people.show_file(PNG, "a dot", name="dot.png", mime="image/png")

    shown = (await received(call))["document"]

    file = (await call("getFile", file_id=shown["file_id"])).result
    assert (await call.download(file["file_path"]))[1] == PNG
    assert (shown["file_name"], shown["mime_type"]) == ("dot.png", "image/png")
    assert shown["thumbnail"]["width"] == 1


async def test_a_file_that_is_no_image_has_no_thumbnail(api, call):
    api.people.show_file(b"%PDF-1.7", name="a.pdf", mime="application/pdf")

    assert "thumbnail" not in (await received(call))["document"]


async def test_a_file_over_20_mb_is_known_and_not_given(api, call):
    api.people.show_photo(WIDE, size=DOWNLOAD_MAX + 1)
    *_, smaller, largest = (await received(call))["photo"]

    refused = await call("getFile", file_id=largest["file_id"])
    smaller_one = await call("getFile", file_id=smaller["file_id"])

    assert largest["file_size"] == DOWNLOAD_MAX + 1
    assert refused.refusal == (400, "Bad Request: file is too big")
    assert smaller_one.status == 200


async def test_a_path_is_good_once_it_was_asked_for_and_until_it_ends(api, call):
    shown = api.files.document(PNG)
    path = (await call("getFile", file_id=shown["file_id"])).result["file_path"]
    before = await call.download(path)

    api.files.end_links()
    after = await call.download(path)
    await call("getFile", file_id=shown["file_id"])
    again = await call.download(path)

    assert [status for status, _ in (before, after, again)] == [200, 404, 200]


async def test_files_are_given_to_their_own_bot_alone(api, call):
    shown = api.files.document(PNG)
    path = (await call("getFile", file_id=shown["file_id"])).result["file_path"]

    status, _ = await call.download(path, token="1:other")

    assert status == 401


async def test_an_unknown_file_id_is_refused(call):
    assert (await call("getFile", file_id="none")).refusal[0] == 400


async def test_downloads_fail_when_that_is_ordered(api, call):
    shown = api.files.document(PNG)
    path = (await call("getFile", file_id=shown["file_id"])).result["file_path"]
    api.fail("file", code=502)

    first, _ = await call.download(path)
    second, content = await call.download(path)

    assert (first, second, content) == (502, 200, PNG)


async def test_the_same_content_has_the_same_unique_id_and_an_id_of_its_own(api):
    one, other, different = (api.files.document(data) for data in (PNG, PNG, WIDE))

    assert one["file_unique_id"] == other["file_unique_id"] != different["file_unique_id"]
    assert len({shown["file_id"] for shown in (one, other, different)}) == 3


async def test_an_uploaded_photo_is_shown_in_sizes_and_can_be_sent_again_by_its_id(api, bot):
    sent = await bot.send_photo(OWNER, WIDE, caption="look")

    again = await bot.send_photo(OWNER, sent.photo[-1].file_id)

    assert [size.width for size in sent.photo] == [90, 320, 800, 1000]
    assert again.photo[-1].file_unique_id == sent.photo[-1].file_unique_id
    assert api.texts() == ["look", ""]


async def test_an_uploaded_file_keeps_its_name_and_every_byte(api, bot):
    sent = await bot.send_document(OWNER, b"\x00\xff" * 300_000, filename="two.bin")

    assert sent.document.file_name == "two.bin"
    assert api.files.data_of(api.sent[0]["document"]) == b"\x00\xff" * 300_000


@pytest.mark.parametrize("size", [(9000, 1001), (2100, 100)])
async def test_a_photo_too_wide_or_too_narrow_is_refused(size, api, bot):
    """The sides together are 10,000 pixels at most, one no more than 20 times the other."""
    with pytest.raises(BadRequest, match=r"(?i)photo_invalid_dimensions"):
        await bot.send_photo(OWNER, drawn(*size))

    assert api.sent == []


async def test_a_photo_that_is_no_picture_or_over_10_mb_is_refused(api, bot):
    with pytest.raises(BadRequest, match=r"(?i)image_process_failed"):
        await bot.send_photo(OWNER, b"no picture at all")
    with pytest.raises(BadRequest, match="too big for a photo"):
        await bot.send_photo(OWNER, PNG + bytes(PHOTO_MAX))

    assert api.sent == []


async def test_a_photos_id_is_no_files_id(api, bot):
    sent = await bot.send_photo(OWNER, WIDE)

    with pytest.raises(BadRequest):
        await bot.send_document(OWNER, sent.photo[-1].file_id)


async def test_an_empty_file_is_refused(api, call):
    form = aiohttp.FormData({"chat_id": str(OWNER)})
    form.add_field("document", b"", filename="nothing.txt")
    async with call.session.post(f"{api.address}/bot{api.token}/sendDocument", data=form) as answer:
        body = await answer.json()

    assert (answer.status, body["description"]) == (400, "Bad Request: file must be non-empty")
    assert api.sent == []


def test_an_upload_ends_at_50_mb():
    with pytest.raises(RefusedByBotApi) as refused:
        Files(1).sent_document(bytes(UPLOAD_MAX + 1), "a.bin", "")

    assert refused.value.code == 413


async def test_the_parts_of_an_album_share_its_id_and_keep_their_captions(api, call):
    api.people.show_album([(WIDE, "a"), (PNG, "b"), (WIDE, "")])

    parts = [update["message"] for update in (await call("getUpdates")).result]

    assert len({part["media_group_id"] for part in parts}) == 1
    assert [part.get("caption") for part in parts] == ["a", "b", None]
    assert len({part["message_id"] for part in parts}) == 3
