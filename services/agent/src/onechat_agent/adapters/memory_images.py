"""Stored images of the memory service: passed through as they come, or read whole. Deadlines in seconds.

Raises the runtime's RemoteError; waiting the service out is the caller's (patience.py). Pieces and their
checksum: common/v1/chunk.proto.
"""

import hashlib
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from contextlib import aclosing
from typing import TYPE_CHECKING, Final

import grpc
from onechat.common.v1.chunk_pb2 import Chunk
from onechat.memory.v1 import image_pb2
from onechat_runtime.errors import RemoteError

if TYPE_CHECKING:
    from onechat.memory.v1.memory_service_pb2_grpc import MemoryServiceStub

STREAM_S: Final = 60.0  # for 20 MB; the contract's
NOT_TO_BE_HAD: Final = frozenset({"IMAGE_UNKNOWN", "IMAGE_DAMAGED"})  #: reasons that no waiting changes


class MemoryImages:
    """Images by their stored names."""

    def __init__(self, stub: "MemoryServiceStub") -> None:
        self._stub = stub

    async def put(self, chunks: AsyncIterable[Chunk]) -> str:
        """Stores what `chunks` hold, reading on only as fast as the memory takes it; its name."""

        async def requests() -> AsyncIterator[image_pb2.PutImageRequest]:
            async for chunk in chunks:
                yield image_pb2.PutImageRequest(chunk=chunk)

        answer = await self._stub.PutImage(requests(), timeout=STREAM_S)
        return str(answer.name)

    async def get(self, name: str) -> AsyncGenerator[Chunk, None]:
        """The image's chunks as they are wanted; whoever stops reading ends the stream."""
        call = self._stub.GetImage(image_pb2.GetImageRequest(name=name), timeout=STREAM_S)
        try:
            async for answer in call:
                yield answer.chunk
        finally:
            call.cancel()

    async def content(self, name: str) -> bytes:
        """The image whole, checked against its checksum."""
        found = bytearray()
        claimed = b""
        async with aclosing(self.get(name)) as chunks:
            async for chunk in chunks:
                found += chunk.content
                claimed = chunk.sha256
        if hashlib.sha256(found).digest() != claimed:
            raise RemoteError(
                grpc.StatusCode.DATA_LOSS, "what came is not what was stored", reason="IMAGE_DAMAGED"
            )
        return bytes(found)

    async def is_there(self, name: str) -> bool:
        """Whether an image of that name is stored, and its file with it."""
        try:
            async with aclosing(self.get(name)) as chunks:
                await anext(chunks, None)
        except RemoteError as error:
            if error.reason in NOT_TO_BE_HAD:
                return False
            raise
        return True
