"""How an answer leaves: whole or as a stream, and the ways in which a script makes it go wrong."""

import asyncio
import json
from collections.abc import Sequence

from aiohttp import web

from onechat_demo.events import error_event, sse
from onechat_demo.faults import Break, StreamFault
from onechat_demo.response import JsonDict
from onechat_demo.scripts import Gate, Script

STREAM_HEADERS = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store"}


async def send_stream(request: web.Request, events: Sequence[JsonDict], script: Script) -> web.StreamResponse:
    """Sends `events`; with a stream fault only what comes before it, and then the fault."""
    response = web.StreamResponse(headers=STREAM_HEADERS)
    await response.prepare(request)
    place = len(events) if script.stream is None else script.stream.place(len(events))
    await response.write(b"".join(sse(event) for event in events[:place]))
    if script.stream is not None:
        await _go_wrong(request, response, script.stream, events[place:], script.stall)
    return response  # which aiohttp ends: with a last chunk, unless the connection is closed


async def send_whole(request: web.Request, response: JsonDict, script: Script) -> web.StreamResponse:
    """Sends a Response as one JSON body; a stream fault makes that body the thing that breaks."""
    match script.stream.kind if script.stream is not None else None:
        case Break.CUT | Break.NO_TERMINAL:
            close(request)
            return web.Response()
        case Break.BROKEN_JSON:
            return web.Response(body=json.dumps(response).encode()[:-1], content_type="application/json")
        case Break.STALL:
            await stalled(script.stall)
    return web.json_response(response)


async def stalled(gate: Gate | None) -> None:
    """Waits for the gate; without one, until the client or the server goes away."""
    await (asyncio.Event().wait() if gate is None else gate.passed())


def close(request: web.Request) -> None:
    """Closes the connection after what was written has left; nothing can be written any more."""
    if request.transport is not None:
        request.transport.close()


async def _go_wrong(
    request: web.Request,
    response: web.StreamResponse,
    fault: StreamFault,
    rest: Sequence[JsonDict],
    gate: Gate | None,
) -> None:
    match fault.kind:
        case Break.CUT:
            close(request)
        case Break.NO_TERMINAL:
            await response.write(b"".join(sse(event) for event in rest[:-1]))
        case Break.BROKEN_JSON:
            await response.write(b'event: response.output_text.delta\ndata: {"type": "response.outp\n\n')
        case Break.STALL:
            await stalled(gate)
            await response.write(b"".join(sse(event) for event in rest))
        case Break.ERROR_EVENT:
            number = rest[0]["sequence_number"]
            assert isinstance(number, int)
            await response.write(sse(error_event(fault.code, fault.message, number)))
