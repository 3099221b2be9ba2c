"""The echo service as a process of its own, once it has said that it is ready."""

import asyncio
import json
from asyncio.subprocess import Process
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import grpc.aio
from onechat_runtime.channels import open_channel
from onechat_runtime.tokens import read_token


class Running:
    """A service that has said it is ready, with its data in the folder `home`."""

    def __init__(self, process: Process, ready: dict[str, Any], home: Path) -> None:
        self.process = process
        self.ready = ready  #: what its ready line said
        self.lines: list[dict[str, Any]] = []  #: what it logged after that, once it has ended
        self._data = home / "data"

    @property
    def address(self) -> str:
        return self.ready["address"]

    def channel(self, caller: str = "operator") -> AbstractAsyncContextManager[grpc.aio.Channel]:
        token = read_token(self._data / "tokens" / caller)
        return open_channel(self.address, token=token, name="scheduler")

    async def ended(self, within_s: float = 12) -> int | None:
        """Its exit code, once it has ended."""
        async with asyncio.timeout(within_s):
            rest = await self.process.stderr.read()
            await self.process.wait()
        self.lines += [json.loads(line) for line in rest.decode().splitlines()]
        return self.process.returncode
