"""Images through the real service: what goes in comes out as it came, and twice is once."""

import asyncio
import stat
from hashlib import sha256

import pytest
from grpc import StatusCode
from onechat.common.v1.chunk_pb2 import Chunk
from onechat_memory.domain.image_types import SIZE_MAX
from onechat_runtime.errors import RemoteError

from tests.fakes.image_files import check_refused, files, rows
from tests.fakes.pictures import ENDINGS, PNG, picture

LARGE = picture(700_000)
SUM = sha256(PNG).digest()


@pytest.mark.parametrize(("content", "ending"), ENDINGS.items(), ids=ENDINGS.values())
async def test_an_image_is_named_by_its_content_and_given_back_as_it_came(memory, folder, content, ending):
    answer = await memory.put_image(content)

    assert answer.name == sha256(content).hexdigest()[:16] + ending
    assert answer.size_bytes == len(content)
    assert await memory.get_image(answer.name) == content
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / answer.name).stat().st_mode) == 0o600


@pytest.mark.parametrize("piece", [1, 7, 23, 24])
async def test_pieces_may_be_of_any_size(memory, piece):
    """The type is told by the first bytes, in however many pieces they come."""
    answer = await memory.put_image(PNG, piece=piece)

    assert await memory.get_image(answer.name) == PNG


async def test_the_checksum_may_come_with_the_last_content(memory):
    answer = await memory.put_chunks(Chunk(content=PNG[:30]), Chunk(), Chunk(content=PNG[30:], sha256=SUM))

    assert await memory.get_image(answer.name) == PNG


async def test_twenty_megabytes_are_taken_and_no_byte_more(memory, folder):
    answer = await memory.put_image(picture(SIZE_MAX))
    with pytest.raises(RemoteError) as refused:
        await memory.put_image(picture(SIZE_MAX + 1))

    check_refused(refused, StatusCode.INVALID_ARGUMENT, "IMAGE_INVALID")
    assert "20 MB" in refused.value.message
    assert [path.name for path in folder.iterdir()] == [answer.name]
    assert await memory.get_image(answer.name) == picture(SIZE_MAX)


async def test_the_same_content_gets_the_same_name_and_is_written_once(memory, folder, clock):
    first = await memory.put_image(LARGE)
    written, kept = (folder / first.name).stat(), rows(memory)
    clock.advance(60)

    again = await memory.put_image(LARGE, piece=50_000)

    assert again == first
    found = (folder / first.name).stat()
    assert (found.st_ino, found.st_mtime_ns) == (written.st_ino, written.st_mtime_ns)
    assert rows(memory) == kept
    assert [path.name for path in folder.iterdir()] == [first.name]


async def test_many_who_send_the_same_at_once_all_get_its_name(memory, folder):
    answers = await asyncio.gather(*(memory.put_image(LARGE) for _ in range(6)))

    assert len({answer.name for answer in answers}) == 1
    assert len(rows(memory)) == 1
    assert files(folder) == {answers[0].name: LARGE}


async def test_a_file_without_a_row_is_no_image_and_gives_way_to_one(memory, folder):
    """A process that was killed between the two leaves such a file, and the disk may have kept half of it."""
    name = f"{sha256(LARGE).hexdigest()[:16]}.png"
    (folder / name).write_bytes(LARGE[:1_000])

    with pytest.raises(RemoteError) as refused:
        await memory.get_image(name)
    answer = await memory.put_image(LARGE)

    check_refused(refused, StatusCode.NOT_FOUND, "IMAGE_UNKNOWN")
    assert answer.name == name
    assert await memory.get_image(name) == LARGE


UNKNOWN = ["", "../x", "../store.db", "/etc/passwd", "store.db", "0123456789abcdef.png", "x" * 5_000, "\x00"]


@pytest.mark.parametrize("name", UNKNOWN)
async def test_a_name_that_was_never_given_is_unknown(memory, name):
    with pytest.raises(RemoteError) as refused:
        await memory.get_image(name)

    check_refused(refused, StatusCode.NOT_FOUND, "IMAGE_UNKNOWN")


async def test_images_are_there_after_a_restart_and_what_was_on_its_way_is_not(open_memory):
    async with open_memory() as memory:
        name = (await memory.put_image(LARGE)).name
        folder = memory.store.path.parent / "images"
    (folder / "incoming-x1y2.part").write_bytes(LARGE[:9])
    (folder / "a person's own.txt").write_text("kept")

    async with open_memory() as memory:
        assert await memory.get_image(name) == LARGE

    assert sorted(files(folder)) == sorted([name, "a person's own.txt"])
