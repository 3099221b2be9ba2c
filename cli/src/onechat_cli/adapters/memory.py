"""The memory service, as people's commands read it. Calls raise RemoteError; times are seconds."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final, cast

from google.protobuf.timestamp_pb2 import Timestamp
from onechat.common.v1 import message_kind_pb2
from onechat.memory.v1 import (
    log_pb2,
    memory_service_pb2,
    memory_service_pb2_grpc,
    message_pb2,
    search_pb2,
    stats_pb2,
)
from onechat_runtime.channels import NO_DEADLINE, open_channel

from onechat_cli.domain.remembered import (
    ChatView,
    Figures,
    KeptLine,
    KeptLog,
    KeptMessage,
    LineName,
    Zoomed,
)
from onechat_cli.domain.safe_text import sendable

SEARCH_PAGE_MAX: Final = 100  #: messages
_READ_S: Final = 10.0
_SEARCH_S: Final = 10.0
_LOGS_PAGE: Final = 1_000


class MemoryClient:
    """Calls of one channel to the memory service."""

    def __init__(self, stub: "memory_service_pb2_grpc.MemoryServiceAsyncStub") -> None:
        self._stub = stub

    @classmethod
    @asynccontextmanager
    async def connect(cls, address: str, token: str) -> AsyncIterator["MemoryClient"]:
        """A client; the service need not be there."""
        async with open_channel(address, token=token, name="memory") as channel:
            stub = memory_service_pb2_grpc.MemoryServiceStub(channel)
            yield cls(cast("memory_service_pb2_grpc.MemoryServiceAsyncStub", stub))

    async def logs(self) -> list[KeptLog]:
        """Every log, by id."""
        found: list[KeptLog] = []
        request = memory_service_pb2.ListLogsRequest(page_size=_LOGS_PAGE)
        while True:
            page = await self._stub.ListLogs(request, timeout=_READ_S)
            found += map(_log, page.logs)
            if not page.next_page_token:
                return found
            request.page_token = page.next_page_token

    async def view(self, log: str) -> ChatView:
        """The chat's view as it stands."""
        answer = await self._stub.GetView(memory_service_pb2.GetViewRequest(log_id=log), timeout=_READ_S)
        return ChatView(
            text=answer.text,
            length=answer.length,
            generation=answer.generation,
            lines=answer.lines,
            unbuilt=answer.unbuilt_lines,
            size=answer.bytes,
        )

    async def zoom(self, log: str, name: LineName, page: int | None) -> Zoomed:
        """What stands below `name`, on the page that begins at message `page`."""
        request = memory_service_pb2.ZoomRequest(
            log_id=log, first_id=name.first, count=name.count, page_id=page
        )
        answer = await self._stub.Zoom(request, timeout=_READ_S)
        return Zoomed(
            lines=tuple(
                KeptLine(name=LineName(first=one.first_id, count=one.count), text=one.text, built=one.built)
                for one in answer.lines
            ),
            messages=tuple(map(_message, answer.messages)),
            next_page=answer.next_page_id if answer.HasField("next_page_id") else None,
        )

    async def search(
        self, log: str, words: str, *, most: int, token: str = ""
    ) -> tuple[list[KeptMessage], str]:
        """Up to `most` messages that hold all `words`, newest first, and the next page's token or ""."""
        request = search_pb2.SearchMessagesRequest(
            log_id=log, words=sendable(words), page_size=min(most, SEARCH_PAGE_MAX), page_token=token
        )
        answer = await self._stub.SearchMessages(request, timeout=_SEARCH_S)
        return list(map(_message, answer.messages)), answer.next_page_token

    async def messages(self, log: str, start: int, end: int | None) -> AsyncGenerator[KeptMessage, None]:
        """The messages from `start` on, before `end`, oldest first, as they come."""
        request = memory_service_pb2.ListMessagesRequest(log_id=log, start_id=start, end_id=end)
        call: Any = self._stub.ListMessages(request, timeout=NO_DEADLINE)
        try:
            async for answer in call:
                for message in answer.messages:
                    yield _message(message)
        finally:
            call.cancel()  # whoever has read enough leaves no stream behind

    async def figures(self, log: str) -> Figures:
        """How far a log is."""
        answer = await self._stub.GetLogStats(stats_pb2.GetLogStatsRequest(log_id=log), timeout=_READ_S)
        return Figures(
            log=_log(answer.log),
            built=answer.built_nodes,
            ready=answer.ready_nodes,
            failing=answer.failing_nodes,
            degraded=answer.degraded_nodes,
            unbuilt=answer.unbuilt_leaves,
            view_bytes=answer.view_bytes,
            view_lines=answer.view_lines,
            compaction_view_bytes=answer.compaction_view_bytes,
            compaction_view_lines=answer.compaction_view_lines,
            batches=answer.batches,
            batch_owed=answer.batch_owed,
            model_lines=answer.model_lines,
            model_calls=answer.model_calls,
            over_length_answers=answer.over_length_answers,
            retries=answer.retries,
            searchable=answer.searchable_messages,
        )


def _log(log: log_pb2.Log) -> KeptLog:
    return KeptLog(
        id=log.log_id,
        label=log.label,
        shape=_word(log_pb2.LogShape, log.shape, "LOG_SHAPE_"),
        state=_word(log_pb2.LogState, log.state, "LOG_STATE_"),
        generation=log.generation,
        length=log.length,
        create_time=_time(log.create_time),
    )


def _message(message: message_pb2.Message) -> KeptMessage:
    return KeptMessage(
        id=message.id,
        key=message.key,
        kind=_word(message_kind_pb2.MessageKind, message.kind, "MESSAGE_KIND_"),
        text=message.text,
        time=_time(message.time),
        zone=message.zone,
        source=message.source,
        turn=message.turn,
        step=message.step,
        call=message.call,
        images=tuple(message.images),
        part=message.part,
        parts=message.parts,
    )


@lru_cache(maxsize=64)  # an export asks for a word a message
def _word(names: Any, value: int, prefix: str) -> str:
    """`value` as people say it; a newer service may have more values than are known here."""
    if value not in names.values():
        return f"number {value}"
    name: str = names.Name(value)
    return name.removeprefix(prefix).lower()


def _time(stamp: Timestamp) -> datetime:
    return stamp.ToDatetime(tzinfo=UTC)
