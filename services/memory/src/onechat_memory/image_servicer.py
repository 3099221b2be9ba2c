"""PutImage and GetImage of MemoryService: chunks in, chunks out. Part of servicer.py's MemoryServicer."""

from collections.abc import AsyncIterator
from typing import Any

from onechat.memory.v1 import image_pb2

from onechat_memory.errors import NotServedYet


class ImageServicer:
    """Images at the service's door."""

    async def PutImage(self, request_iterator: Any, context: Any) -> image_pb2.PutImageResponse:
        raise NotServedYet("This version stores no images: say in words what the picture shows.")

    async def GetImage(
        self, request: image_pb2.GetImageRequest, context: Any
    ) -> AsyncIterator[image_pb2.GetImageResponse]:
        raise NotServedYet("This version stores no images, so there is none to give.")
        yield  # makes it a stream
