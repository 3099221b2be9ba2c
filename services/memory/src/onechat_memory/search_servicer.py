"""SearchMessages of MemoryService. Part of servicer.py's MemoryServicer."""

from typing import Any

from onechat.memory.v1 import search_pb2

from onechat_memory.errors import NotServedYet


class SearchServicer:
    """Search at the service's door."""

    async def SearchMessages(
        self, request: search_pb2.SearchMessagesRequest, context: Any
    ) -> search_pb2.SearchMessagesResponse:
        raise NotServedYet("This version does not search a log: read it by ListMessages.")
