"""GET /healthz and GET /metrics, for a container's probe and for Prometheus, on this machine only.

As little HTTP/1.1 as both need: one request a connection, no body. Times are seconds.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

REQUEST_MAX_BYTES: Final = 8 * 1024
REQUEST_S: Final = 5.0
_PHRASES: Final = {200: "OK", 404: "Not Found", 405: "Method Not Allowed", 503: "Service Unavailable"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What a GET answers."""

    status: int
    content_type: str
    body: bytes


@asynccontextmanager
async def serving_pages(pages: Mapping[str, Callable[[], Page]], where: int | Path) -> AsyncIterator[str]:
    """Serve `pages` by path at 127.0.0.1:`where`, or at the unix socket `where`; gives the address.

    Port 0 takes any free one. Raises OSError when it is taken.
    """

    async def serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(REQUEST_S):
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(_response(pages, head))
                await writer.drain()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # whoever asked has gone, or speaks no HTTP
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    if isinstance(where, Path):
        server = await asyncio.start_unix_server(serve_one, path=where, limit=REQUEST_MAX_BYTES)
        address = f"unix:{where}"
    else:
        server = await asyncio.start_server(serve_one, host="127.0.0.1", port=where, limit=REQUEST_MAX_BYTES)
        address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield address
    finally:
        server.close()
        await server.wait_closed()


def _response(pages: Mapping[str, Callable[[], Page]], head: bytes) -> bytes:
    method, _, rest = head.split(b"\r\n", 1)[0].decode("latin-1").partition(" ")
    path = rest.partition(" ")[0].partition("?")[0]
    make = pages.get(path)
    if method not in ("GET", "HEAD"):
        page = Page(status=405, content_type="text/plain", body=b"only GET\n")
    elif make is None:
        page = Page(status=404, content_type="text/plain", body=b"no such page\n")
    else:
        page = make()
    lines = (
        f"HTTP/1.1 {page.status} {_PHRASES[page.status]}",
        f"Content-Type: {page.content_type}",
        f"Content-Length: {len(page.body)}",
        "Connection: close",
    )
    return "\r\n".join((*lines, "", "")).encode() + (b"" if method == "HEAD" else page.body)
