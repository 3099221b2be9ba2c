"""SearchMessages of MemoryService. Part of servicer.py's MemoryServicer."""

from typing import Any, Final

from onechat.memory.v1 import search_pb2

from onechat_memory.adapters import contract_in, contract_out
from onechat_memory.domain.leases import LogId
from onechat_memory.searching import Searching

CAP_S: Final = 10.0  #: of a call without a deadline


class SearchServicer:
    """Search at the service's door."""

    _searching: Searching

    async def SearchMessages(
        self, request: search_pb2.SearchMessagesRequest, context: Any
    ) -> search_pb2.SearchMessagesResponse:
        left_s = context.time_remaining()
        found = await self._searching.find(
            LogId(request.log_id),
            contract_in.wanted_words(request.words),
            before=contract_in.search_token(request.page_token),
            most=contract_in.page_size(
                request.page_size, default=contract_in.FOUND_DEFAULT, most=contract_in.FOUND_MAX
            ),
            within_s=CAP_S if left_s is None else left_s,
        )
        return search_pb2.SearchMessagesResponse(
            messages=map(contract_out.message_to_proto, found.messages),
            next_page_token="" if found.next_before is None else str(found.next_before),
        )
