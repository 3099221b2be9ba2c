"""Pictures that are sent to an agent service, and those that its model was shown."""

import base64
from collections.abc import AsyncIterable, AsyncIterator, Sequence
from hashlib import sha256
from typing import Any

import grpc
from onechat.agent.v1 import image_pb2
from onechat.common.v1.chunk_pb2 import Chunk
from onechat_agent.adapters.memory_images import MemoryImages
from onechat_runtime.errors import RemoteError

from tests.fakes.agent_house import TIMEOUT_S, House
from tests.fakes.memory_server import PIECE
from tests.fakes.pictures import opened
from tests.fakes.scripted_model import Purpose, ScriptedModel

UNKNOWN = "0123456789abcdef.png"  #: a stored name that nothing has


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
