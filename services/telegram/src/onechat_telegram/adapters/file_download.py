"""Files of a bot, fetched from the Bot API server in pieces and measured as they come. Sizes are bytes.

python-telegram-bot would read a file as a whole, however long it is, and one on this machine's disk where
the server's answer names such a path. The address holds the bot's token, so no error's cause is handed on.
"""

import asyncio
from ssl import SSLContext
from typing import Final
from urllib.parse import quote

import httpx
from onechat_runtime.settings import Secret

from onechat_telegram.domain.bot_errors import BotApiError, FileTooLarge, NotReached, Refused

FETCH_S: Final = 300.0  # for 20 MB on a slow line
_PIECE: Final = 65_536
_SILENCE_S: Final = 20.0


class FileDownload:
    """Fetches files of one bot."""

    def __init__(
        self, token: Secret, base_url: str, *, outside: bool, certificates: SSLContext | None
    ) -> None:
        """`outside`: the server is not on this machine, so a proxy of the environment counts."""
        self._token = token
        self._base_url = base_url
        self._client = httpx.AsyncClient(
            timeout=httpx.Timeout(_SILENCE_S, connect=10.0),
            trust_env=outside,
            verify=certificates or False,
            follow_redirects=False,
            headers={"Accept-Encoding": "identity"},
        )

    async def content(self, path: str, most: int) -> bytes:
        """The file at `path`, as getFile names it; FileTooLarge as soon as it has more than `most` bytes.

        Raises NotReached for what may work later, and Refused for what will not.
        """
        if path.startswith("/") or ".." in path.split("/") or not path.isprintable():
            raise Refused("the server names a path on its own disk")
        try:
            async with asyncio.timeout(FETCH_S):
                return await self._fetched(path, most)
        except (httpx.HTTPError, TimeoutError) as error:
            found: BotApiError = NotReached(type(error).__name__)
        raise found  # outside of the handler, so that its cause, which knows the address, is not attached

    async def close(self) -> None:
        """End its connections."""
        await self._client.aclose()

    async def _fetched(self, path: str, most: int) -> bytes:
        address = f"{self._base_url}/file/bot{self._token.reveal()}/{quote(path)}"
        async with self._client.stream("GET", address) as response:
            if response.status_code == httpx.codes.TOO_MANY_REQUESTS or response.status_code >= 500:
                raise NotReached(f"the file server answers {response.status_code}")
            if response.status_code != httpx.codes.OK:
                raise Refused(f"the file server answers {response.status_code}")
            found = bytearray()
            async for piece in response.aiter_raw(_PIECE):
                found += piece
                if len(found) > most:
                    raise FileTooLarge(f"more than {most} bytes")
            return bytes(found)
