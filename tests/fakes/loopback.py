"""A server on loopback inside the test's own loop, behind the same door as a real one, and channels to it.

Every caller's token is known to it: the channel says whose it uses.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import grpc.aio
from onechat_runtime.channels import new_channel
from onechat_runtime.freezing import Snapshots
from onechat_runtime.health import HealthBoard
from onechat_runtime.listening import Listening, Served, listening
from onechat_runtime.tokens import CALLERS, Callers, hash_of

TOKENS: Mapping[str, str] = {caller: f"token-of-{caller}" for caller in CALLERS}


class Loopback:
    """A server that listens at `address`."""

    def __init__(self, opened: Listening, board: HealthBoard, tokens: Mapping[str, str]) -> None:
        self.address = opened.address
        self.listening = opened
        self.board = board
        self._tokens = tokens
        self._channels: list[grpc.aio.Channel] = []

    def channel(self, caller: str = "operator") -> grpc.aio.Channel:
        """A channel with the token of `caller`; it is closed with the server."""
        channel = new_channel(self.address, token=self._tokens[caller])
        self._channels.append(channel)
        return channel

    async def close_channels(self) -> None:
        """Close every channel that was opened here."""
        while self._channels:
            await self._channels.pop().close()


@asynccontextmanager
async def serving(
    *services: Served,
    tokens: Mapping[str, str] = TOKENS,
    board: HealthBoard | None = None,
    name: str = "loopback",
    address: str = "127.0.0.1:0",
    schema: int = 0,
    snapshots: Snapshots | None = None,
    pages: bool = False,
) -> AsyncIterator[Loopback]:
    """Serve `services` and run their background work; the address is free again at the end.

    `tokens` are callers' tokens by name.
    """
    board = board or HealthBoard()
    async with listening(
        name=name,
        address=address,
        services=services,
        board=board,
        callers=Callers({caller: hash_of(token) for caller, token in tokens.items()}),
        schema=schema,
        started=datetime.now(UTC),
        snapshots=snapshots,
        pages=pages,
    ) as opened:
        loopback = Loopback(opened, board, tokens)
        background = [asyncio.create_task(_awaited(job)) for one in services for job in one.background]
        try:
            yield loopback
        finally:
            await loopback.close_channels()
            for task in background:
                task.cancel()
            ended = await asyncio.gather(*background, return_exceptions=True)
            assert all(one is None or isinstance(one, asyncio.CancelledError) for one in ended), ended


async def _awaited(job: Callable[[], Awaitable[None]]) -> None:
    await job()
