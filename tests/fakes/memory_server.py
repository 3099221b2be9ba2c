"""The real memory service on loopback, inside the test's own loop, with real files; and short ways to use it.

It is not a double: what a test of another service sees is what the service does. Times are seconds.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from onechat.common.v1.chunk_pb2 import Chunk
from onechat.common.v1.message_kind_pb2 import MESSAGE_KIND_USER, MessageKind
from onechat.memory.v1 import (
    image_pb2,
    log_pb2,
    memory_service_pb2,
    memory_service_pb2_grpc,
    message_pb2,
    search_pb2,
    stats_pb2,
    upkeep_pb2,
)
from onechat_memory.__main__ import MIGRATIONS, NAME, served
from onechat_runtime.clock import Clock, SystemClock
from onechat_runtime.health import HealthBoard
from onechat_runtime.store import Store, migrations_in

from tests.fakes.clock import ManualClock
from tests.fakes.loopback import Loopback, serving
from tests.fakes.stores import store_at

LOG = "log"
TIMEOUT_S = 20.0
PIECE = 65_536  # bytes of an image's piece
_NUMBERS = count(1)  # for keys, over all servers of a test
MORNING = datetime(2026, 1, 1, 9, tzinfo=UTC)


class MemoryServer:
    """A memory service that runs, seen by `caller`; all but `stub` are shorthands for a test's own log."""

    def __init__(self, loopback: Loopback, store: Store, caller: str) -> None:
        self.loopback = loopback
        self.address = loopback.address
        self.store = store  #: for looking at the rows, never for changing them
        self.stub: Any = memory_service_pb2_grpc.MemoryServiceStub(loopback.channel(caller))

    async def call(self, method: str, request: Any) -> Any:
        """One unary call."""
        return await getattr(self.stub, method)(request, timeout=TIMEOUT_S)

    async def create(self, log: str = LOG, **fields: Any) -> log_pb2.Log:
        """Make a log."""
        answer = await self.call("CreateLog", memory_service_pb2.CreateLogRequest(log_id=log, **fields))
        return answer.log

    async def append(
        self, *messages: message_pb2.NewMessage | str, log: str = LOG
    ) -> memory_service_pb2.AppendMessagesResponse:
        """Append messages; a text alone is one of the user, under a key of its own."""
        request = memory_service_pb2.AppendMessagesRequest(log_id=log, messages=map(self._message, messages))
        return await self.call("AppendMessages", request)

    @staticmethod
    def _message(message: message_pb2.NewMessage | str) -> message_pb2.NewMessage:
        if isinstance(message, str):
            return new_message(f"n:{next(_NUMBERS)}", message)
        return message

    async def view(self, log: str = LOG, wait_s: float = 0) -> memory_service_pb2.GetViewResponse:
        """The chat's view."""
        request = memory_service_pb2.GetViewRequest(log_id=log, wait=duration(wait_s))
        return await self.stub.GetView(request, timeout=wait_s + TIMEOUT_S)

    async def lease(
        self, holder: str = "agent", *, most: int = 0, wait_s: float = 0
    ) -> memory_service_pb2.LeaseCompactionsResponse:
        """Compaction work."""
        request = memory_service_pb2.LeaseCompactionsRequest(
            holder=holder, max_pieces=most, wait=duration(wait_s)
        )
        return await self.stub.LeaseCompactions(request, timeout=wait_s + TIMEOUT_S)

    async def complete(self, name: str, line: str, *, log: str = LOG, **fields: Any) -> str:
        """Give a line for the node called `name`, such as 40+8; the line as it was kept."""
        first, messages = map(int, name.split("+"))
        fields = {"builder": "test", **fields}
        request = memory_service_pb2.CompleteCompactionRequest(
            log_id=log, first_id=first, count=messages, line=line, **fields
        )
        return (await self.call("CompleteCompaction", request)).line

    async def fail(
        self, piece: memory_service_pb2.CompactionPiece, cause: str, *, log: str = LOG, **fields: Any
    ) -> bool:
        """Give a piece back; whether it was built from its source's head."""
        request = memory_service_pb2.FailCompactionRequest(
            log_id=log,
            first_id=piece.first_id,
            count=piece.count,
            lease_id=piece.lease_id,
            cause=cause,
            **fields,
        )
        return (await self.call("FailCompaction", request)).degraded

    async def build_all(self, *, log: str = LOG, line: str = "x" * 300) -> int:
        """Work as an agent's compactor would until nothing is ready; how many lines that took."""
        built = 0
        while (leased := await self.lease("builder")).pieces:
            for piece in leased.pieces:
                await self.complete(f"{piece.first_id}+{piece.count}", line, log=leased.log_id)
                built += 1
        return built

    async def zoom(self, name: str, *, log: str = LOG, page: int | None = None) -> Any:
        """What stands below the node called `name`; 0+0 is a whole flat log or view."""
        first, messages = map(int, name.split("+"))
        request = memory_service_pb2.ZoomRequest(log_id=log, first_id=first, count=messages, page_id=page)
        return await self.call("Zoom", request)

    async def search(
        self, words: str, *, log: str = LOG, size: int = 0, token: str = "", timeout_s: float = TIMEOUT_S
    ) -> search_pb2.SearchMessagesResponse:
        """A page of what holds `words`."""
        request = search_pb2.SearchMessagesRequest(log_id=log, words=words, page_size=size, page_token=token)
        return await self.stub.SearchMessages(request, timeout=timeout_s)

    async def found(self, words: str, **fields: Any) -> list[int]:
        """The ids of the first page's messages."""
        return [message.id for message in (await self.search(words, **fields)).messages]

    async def stats(self, log: str = LOG) -> stats_pb2.GetLogStatsResponse:
        """A log's figures."""
        return await self.call("GetLogStats", stats_pb2.GetLogStatsRequest(log_id=log))

    async def messages(
        self, start: int = 0, end: int | None = None, *, log: str = LOG
    ) -> list[message_pb2.Message]:
        """A range of a log."""
        request = memory_service_pb2.ListMessagesRequest(log_id=log, start_id=start, end_id=end)
        chunks: list[Sequence[message_pb2.Message]] = []
        async for answer in self.stub.ListMessages(request, timeout=TIMEOUT_S):
            chunks.append(answer.messages)
        return [message for chunk in chunks for message in chunk]

    async def logs(self) -> dict[str, log_pb2.Log]:
        """Every log by its id, by way of pages of two."""
        found, token = {}, None
        while token != "":
            request = memory_service_pb2.ListLogsRequest(page_size=2, page_token=token or "")
            answer = await self.call("ListLogs", request)
            found.update({log.log_id: log for log in answer.logs})
            token = answer.next_page_token
        return found

    async def swap(
        self, staged: str = "staged", kept: str = "kept", *, log: str = LOG, request_id: str = ""
    ) -> log_pb2.Log:
        """Put a staged log in a live one's place; the log after it."""
        request = upkeep_pb2.SwapLogRequest(
            log_id=log, staged_log_id=staged, kept_log_id=kept, request_id=request_id
        )
        return (await self.call("SwapLog", request)).log

    async def rebuild(
        self, *, log: str = LOG, degraded: bool = False, demo: bool = False, request_id: str = ""
    ) -> int:
        """Have poor lines written again; how many."""
        request = upkeep_pb2.RebuildNodesRequest(
            log_id=log, degraded=degraded, demo=demo, request_id=request_id
        )
        return (await self.call("RebuildNodes", request)).freed_nodes

    async def delete(self, log: str = "kept", *, request_id: str = "") -> None:
        """Delete a kept log."""
        await self.call("DeleteLog", upkeep_pb2.DeleteLogRequest(log_id=log, request_id=request_id))

    async def put_image(self, content: bytes, *, piece: int = PIECE) -> image_pb2.PutImageResponse:
        """Store an image, sent in pieces of `piece` bytes and its SHA-256."""
        chunks = [Chunk(content=content[at : at + piece]) for at in range(0, len(content), piece)]
        return await self.put_chunks(*chunks, Chunk(sha256=sha256(content).digest()))

    async def put_chunks(self, *chunks: Chunk) -> image_pb2.PutImageResponse:
        """Send these chunks as an image."""

        async def requests() -> AsyncIterator[image_pb2.PutImageRequest]:
            for chunk in chunks:
                yield image_pb2.PutImageRequest(chunk=chunk)

        return await self.stub.PutImage(requests(), timeout=TIMEOUT_S)

    async def get_image(self, name: str) -> bytes:
        """A stored image, whole: its pieces fit the SHA-256 that comes last."""
        request = image_pb2.GetImageRequest(name=name)
        chunks = [answer.chunk async for answer in self.stub.GetImage(request, timeout=TIMEOUT_S)]
        content = b"".join(chunk.content for chunk in chunks)
        assert [chunk.sha256 for chunk in chunks if chunk.sha256] == [sha256(content).digest()]
        assert chunks[-1].sha256
        return content


@asynccontextmanager
async def remembering(
    folder: Path,
    clock: Clock | None = None,
    *,
    caller: str = "agent",
    epoch: str = "epoch",
    vfs: str | None = None,
    idle_clock: Clock | None = None,
    board: HealthBoard | None = None,
) -> AsyncIterator[MemoryServer]:
    """A memory service over the store in `folder`, which another one may have left; ended at the end.

    `epoch` is a new one for each start of a real service; `vfs` is the SQLite VFS to use. The writer counts
    as idle by `idle_clock` alone, never without one. `board` is told what is wrong with the store.
    """
    clock = clock or SystemClock()
    path = folder / NAME / "store.db"
    migrations = migrations_in(MIGRATIONS)
    async with store_at(
        path, component=NAME, migrations=migrations, clock=clock, board=board, vfs=vfs
    ) as store:
        service = await served(store, clock, epoch, idle_clock=idle_clock or ManualClock())
        async with serving(service, name=NAME, schema=store.schema) as loopback:
            yield MemoryServer(loopback, store, caller)


def new_message(
    key: str,
    text: str,
    *,
    kind: MessageKind | str = MESSAGE_KIND_USER,
    time: datetime = MORNING,
    **fields: Any,
) -> message_pb2.NewMessage:
    """A message of the user, unless said otherwise."""
    made = message_pb2.NewMessage(key=key, kind=kind, text=text, **fields)
    made.time.CopyFrom(timestamp(time))
    return made


def timestamp(time: datetime) -> Timestamp:
    """An aware instant as contracts have it."""
    made = Timestamp()
    made.FromDatetime(time)
    return made


def duration(seconds: float) -> Duration:
    """Seconds as contracts have them."""
    made = Duration()
    made.FromNanoseconds(round(seconds * 1e9))
    return made
