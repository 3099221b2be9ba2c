"""PutImage and GetImage of AgentService: passed on to the memory as they come. Part of servicer.py.

A piece is read when the memory wants it and written when the caller takes it, so an image of 20 MB is never
here as a whole. What is taken as an image is the memory's affair.
"""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any, NoReturn

from onechat.agent.v1 import image_pb2
from onechat.common.v1.chunk_pb2 import Chunk
from onechat_runtime.errors import NeighbourAway, RemoteError, StoreFull, retriable

from onechat_agent.adapters.memory_images import NOT_TO_BE_HAD, MemoryImages
from onechat_agent.errors import ImageInvalid, ImageUnknown


class ImageServicer:
    """Images at the service's door."""

    _images: MemoryImages

    async def PutImage(self, request_iterator: Any, context: Any) -> image_pb2.PutImageResponse:
        try:
            return image_pb2.PutImageResponse(name=await self._images.put(_chunks(request_iterator)))
        except RemoteError as error:
            _refuse(error)

    async def GetImage(
        self, request: image_pb2.GetImageRequest, context: Any
    ) -> AsyncIterator[image_pb2.GetImageResponse]:
        try:
            async with aclosing(self._images.get(request.name)) as chunks:
                async for chunk in chunks:
                    yield image_pb2.GetImageResponse(chunk=chunk)
        except RemoteError as error:
            _refuse(error)


async def _chunks(requests: Any) -> AsyncIterator[Chunk]:
    async for request in requests:
        yield request.chunk


def _refuse(error: RemoteError) -> NoReturn:
    """The memory's answer as this contract says it, in the memory's own words."""
    if error.reason == "IMAGE_INVALID":
        raise ImageInvalid(error.message) from None
    if error.reason in NOT_TO_BE_HAD:
        raise ImageUnknown(error.message) from None
    if error.reason == StoreFull.reason:
        raise StoreFull(error.message) from None
    if retriable(error.code):
        raise NeighbourAway("The memory service does not answer: images lie there. Try again.") from None
    raise error
