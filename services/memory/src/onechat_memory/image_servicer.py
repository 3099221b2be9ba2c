"""PutImage and GetImage of MemoryService: chunks in, chunks out. Part of servicer.py's MemoryServicer."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from onechat.common.v1 import chunk_pb2
from onechat.memory.v1 import image_pb2

from onechat_memory.images import Images, Piece


class ImageServicer:
    """Images at the service's door."""

    _images: Images

    async def PutImage(self, request_iterator: Any, context: Any) -> image_pb2.PutImageResponse:
        stored = await self._images.put(_pieces(request_iterator))
        return image_pb2.PutImageResponse(name=stored.name, size_bytes=stored.size)

    async def GetImage(
        self, request: image_pb2.GetImageRequest, context: Any
    ) -> AsyncIterator[image_pb2.GetImageResponse]:
        async with aclosing(self._images.get(request.name)) as pieces:
            async for piece in pieces:
                chunk = chunk_pb2.Chunk(content=piece.content, sha256=piece.sha256)
                yield image_pb2.GetImageResponse(chunk=chunk)


async def _pieces(requests: Any) -> AsyncIterator[Piece]:
    async for request in requests:
        yield Piece(request.chunk.content, request.chunk.sha256)
