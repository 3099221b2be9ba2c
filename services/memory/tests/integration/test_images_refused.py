"""An image that cannot be taken leaves nothing: it is faulty or given up, or there is no room for it."""

import asyncio
import resource
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from hashlib import sha256

import pytest
from grpc import StatusCode
from onechat.common.v1.chunk_pb2 import Chunk
from onechat.memory.v1 import image_pb2
from onechat_memory.domain.image_types import SIZE_MAX
from onechat_memory.images import Images, Piece, opened
from onechat_runtime.errors import RemoteError

from tests.fakes.disk import Disk
from tests.fakes.image_files import check_refused, files, rows
from tests.fakes.memory_server import PIECE
from tests.fakes.pictures import GIF, PNG, picture

LARGE = picture(700_000)
SUM = sha256(PNG).digest()


REFUSED = {
    "nothing at all": ([], "last piece"),
    "no content": ([Chunk(sha256=sha256().digest())], "no content"),
    "no checksum": ([Chunk(content=PNG)], "last piece"),
    "a wrong checksum": ([Chunk(content=PNG), Chunk(sha256=bytes(32))], "does not fit"),
    "a checksum of another kind": ([Chunk(content=PNG), Chunk(sha256=SUM[:20])], "20"),
    "a piece too large": ([Chunk(content=picture(PIECE + 1)), Chunk(sha256=SUM)], "65,536"),
    "content after the end": ([Chunk(content=PNG, sha256=SUM), Chunk(content=b"x")], "the last one"),
    "a second end": ([Chunk(content=PNG, sha256=SUM), Chunk(sha256=SUM)], "the last one"),
    "no image": ([Chunk(content=b"<svg>" * 9), Chunk(sha256=sha256(b"<svg>" * 9).digest())], "PNG, JPEG"),
    "a head alone": ([Chunk(content=GIF[:9]), Chunk(sha256=sha256(GIF[:9]).digest())], "PNG, JPEG"),
}


@pytest.mark.parametrize(("chunks", "said"), REFUSED.values(), ids=REFUSED)
async def test_what_is_no_whole_image_is_refused_with_what_to_do_and_leaves_nothing(
    memory, folder, chunks, said
):
    with pytest.raises(RemoteError) as refused:
        await memory.put_chunks(*chunks)

    check_refused(refused, StatusCode.INVALID_ARGUMENT, "IMAGE_INVALID")
    assert said in refused.value.message
    assert (files(folder), rows(memory)) == ({}, [])


@pytest.mark.parametrize(
    ("head", "read_at_most"), [(PNG, SIZE_MAX), (b"MZ" * 12, 0)], ids=["too large", "no image"]
)
async def test_reading_stops_where_it_is_clear_that_this_will_be_no_image(memory, folder, head, read_at_most):
    """Whoever sends without an end must neither fill the disk nor hold a call."""
    sent = 0

    async def endless() -> AsyncIterator[image_pb2.PutImageRequest]:
        nonlocal sent
        yield image_pb2.PutImageRequest(chunk=Chunk(content=head))
        while True:
            sent += PIECE
            yield image_pb2.PutImageRequest(chunk=Chunk(content=bytes(PIECE)))

    with pytest.raises(RemoteError) as refused:
        await memory.stub.PutImage(endless(), timeout=20)

    check_refused(refused, StatusCode.INVALID_ARGUMENT, "IMAGE_INVALID")
    assert sent < read_at_most + 8_000_000  # what was on its way
    assert files(folder) == {}


async def test_a_caller_that_goes_away_leaves_nothing(memory, folder):
    call = memory.stub.PutImage(timeout=20)
    await call.write(image_pb2.PutImageRequest(chunk=Chunk(content=PNG)))
    await until(lambda: len(files(folder)) == 1)

    call.cancel()

    await until(lambda: files(folder) == {})
    assert rows(memory) == []


async def test_what_is_opened_for_a_caller_that_has_gone_away_is_closed():
    """Each would be a file of the process that is never closed, until it can open no more."""
    begun, go_on, closed = threading.Event(), threading.Event(), asyncio.Event()

    def make() -> str:
        begun.set()
        go_on.wait(10)
        return "a file"

    opening = asyncio.create_task(opened(make, lambda file: closed.set()))
    await asyncio.to_thread(begun.wait, 10)
    opening.cancel()
    await asyncio.wait([opening])
    assert not closed.is_set()

    go_on.set()

    await asyncio.wait_for(closed.wait(), 10)


async def test_a_caller_that_goes_away_while_its_row_is_written_leaves_a_whole_image(memory, folder, clock):
    """Its file has its place by then: the row must follow, or the place be free for others meanwhile."""
    images = Images(memory.store, clock)
    at_work, held = threading.Event(), threading.Event()
    holder = asyncio.create_task(memory.store.write(lambda db: at_work.set() or held.wait(10)))
    await asyncio.to_thread(at_work.wait, 10)
    name = f"{sha256(LARGE).hexdigest()[:16]}.png"

    putting = asyncio.create_task(images.put(pieces_of(LARGE)))
    await until(lambda: (folder / name).exists())
    putting.cancel()
    await asyncio.gather(putting, return_exceptions=True)
    held.set()
    await holder
    await until(lambda: len(rows(memory)) == 1)

    assert putting.cancelled()
    assert files(folder) == {name: LARGE}
    assert await memory.get_image(name) == LARGE


async def pieces_of(content: bytes) -> AsyncIterator[Piece]:
    for at in range(0, len(content), PIECE):
        yield Piece(content[at : at + PIECE])
    yield Piece(b"", sha256(content).digest())


async def until(condition) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.01)


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """No file of this process may grow beyond `size` bytes, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_no_room_for_the_file_is_said_leaves_nothing_and_works_again_later(memory, folder):
    with files_of_at_most(len(LARGE) - 1), pytest.raises(RemoteError) as refused:
        await memory.put_image(LARGE)
    left = files(folder)
    answer = await memory.put_image(LARGE)

    check_refused(refused, StatusCode.RESOURCE_EXHAUSTED, "STORE_FULL")
    assert left == {}
    assert await memory.get_image(answer.name) == LARGE


async def test_no_room_for_the_row_is_said_leaves_no_file_and_works_again_later(open_memory):
    disk = Disk("images_without_rows")
    async with open_memory(vfs=disk.name) as memory:
        folder = memory.store.path.parent / "images"
        disk.full = True
        with pytest.raises(RemoteError) as refused:
            await memory.put_image(PNG)
        left = files(folder)
        disk.full = False
        answer = await memory.put_image(PNG)

        check_refused(refused, StatusCode.RESOURCE_EXHAUSTED, "STORE_FULL")
        assert left == {}
        assert await memory.get_image(answer.name) == PNG
    disk.unregister()


async def test_another_content_of_the_same_name_is_refused_and_overwrites_nothing(memory, folder):
    """Nobody has seen two checksums with the same 16 digits, so the first one's row is made here."""
    name = f"{sha256(PNG).hexdigest()[:16]}.png"
    first = (name, SUM[:8] + bytes(24), len(LARGE), 0)
    (folder / name).write_bytes(LARGE)
    await memory.store.write(
        lambda db: db.execute("INSERT INTO images VALUES (?, ?, ?, ?)", first).fetchall()
    )

    with pytest.raises(RemoteError) as refused:
        await memory.put_image(PNG)

    check_refused(refused, StatusCode.INVALID_ARGUMENT, "IMAGE_INVALID")
    assert name in refused.value.message
    assert files(folder) == {name: LARGE}
    assert rows(memory) == [first]
