"""An image whose file is damaged or gone is said to be so, and is mended by sending it again."""

import os
from pathlib import Path

import pytest
from grpc import StatusCode
from onechat.memory.v1 import image_pb2
from onechat_runtime.errors import RemoteError

from tests.fakes.image_files import check_refused, rows
from tests.fakes.pictures import picture

LARGE = picture(700_000)


def flip_a_bit(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def replace_by(make) -> object:
    def replace(file: Path) -> None:
        file.unlink()
        make(file)

    return replace


DAMAGES_SEEN_AT_ONCE = {
    "missing": Path.unlink,
    "cut short": lambda file: os.truncate(file, 100_000),
    "empty": lambda file: os.truncate(file, 0),
    "longer": lambda file: os.truncate(file, len(LARGE) + 1),
    "a folder": replace_by(Path.mkdir),
    "a pipe": replace_by(os.mkfifo),
    "a link": replace_by(lambda file: file.symlink_to("/etc/hostname")),
}
DAMAGES = {"one bit flipped": flip_a_bit, **DAMAGES_SEEN_AT_ONCE}


@pytest.mark.parametrize("harm", DAMAGES.values(), ids=DAMAGES)
async def test_a_damaged_image_is_said_to_be_one_and_never_ends_like_a_whole_one(memory, folder, harm):
    name = (await memory.put_image(LARGE)).name
    harm(folder / name)
    ends = list[bytes]()

    async def read() -> None:
        async for answer in memory.stub.GetImage(image_pb2.GetImageRequest(name=name), timeout=20):
            ends.append(answer.chunk.sha256)

    with pytest.raises(RemoteError) as refused:
        await read()

    check_refused(refused, StatusCode.DATA_LOSS, "IMAGE_DAMAGED")
    assert name in refused.value.message
    assert not any(ends)
    assert not ends or harm is flip_a_bit  # else nobody need begin to show it


@pytest.mark.parametrize("harm", [Path.unlink, flip_a_bit], ids=["missing", "one bit flipped"])
async def test_sending_a_damaged_image_again_mends_it(memory, folder, harm):
    name = (await memory.put_image(LARGE)).name
    kept = rows(memory)
    harm(folder / name)

    again = await memory.put_image(LARGE)

    assert again.name == name
    assert await memory.get_image(name) == LARGE
    assert rows(memory) == kept
