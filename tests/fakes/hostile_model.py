"""A model server that answers as none should: streams that are cut, garbled, reordered or of wrong types.

Each answer begins as a real one and goes wrong in one to three places, all drawn from one seed, so that what
was found can be had again. It keeps the requests, and says which of them a real server would have refused.
"""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from aiohttp import web
from onechat_demo.answers import Answer, Call, CutReason
from onechat_demo.events import events, sse
from onechat_demo.model import Purpose, purpose_of
from onechat_demo.refusals import RequestRefused
from onechat_demo.response import Frame
from onechat_demo.rules import Rules
from onechat_demo.server import serving
from onechat_demo.usage import Usage

from tests.fakes.hostile import TEXTS

Event = dict[str, Any]
JUNK: Final = (
    *(None, True, False, 0, -1, 7, 2**63, 10**40, -(10**40), 1.5, float("nan"), float("inf")),
    *("", " ", "\ud800", "\udf78\ud83c", "\x00", "completed", "in_progress", "x" * 5_000),
    *([], {}, [[]], [None], {"type": []}, {"a": {"b": None}}, ["text"], [{"type": "output_text"}]),
)
KINDS: Final = (
    *("response.created", "response.completed", "response.failed", "response.incomplete", "error"),
    *("response.output_item.done", "response.output_text.delta", "response.cancelled", "response.done"),
    *("response.future.thing", "ping", ""),
)
NAMES: Final = ("zoom", "date", "read", "no_such", "functions.zoom", "a b", "", "é", "z" * 300)
ARGUMENTS: Final = (
    *('{"id": 0}', '{"id": 0, "n": 1, "name": null, "page": null}', '{"path": "notes.txt"}'),
    *('{"path": "a', "null", "[1]", "{}", '"\\ud83c"', '{"id": 1e400}', '{"id": -5}', "", "{" * 2_000),
)
STATUSES: Final = (204, 400, 401, 402, 403, 404, 409, 413, 418, 422, 429, 429, 500, 502, 503, 529)
BODIES: Final = (
    *(b"", b"{", b"null", b"[]", b'"no"', b"<html>busy</html>", b"\xff\xfe\x00", b'{"error": null}'),
    *(b'{"error": "text"}', b'{"error": {"code": [], "message": {}, "type": 5}}', b'{"detail": [1]}'),
    *(b'{"error": {"message": "' + b"long " * 3_000 + b'"}}', b'{"error": {"code": "server_error"}}'),
)
LINES: Final = (
    *(b": keep alive\n\n", b"data: [DONE]\n\n", b"data:\n\n", b"event: ping\n\n", b"\n\n\n", b"retry: x\n\n"),
    *(b"data: {\n\n", b"data: null\n\n", b"data: [1]\n\n", b"\xff\xfe\n\n", b"data: {}\ndata: {}\n\n"),
)


class HostileModel:
    """Makes answers; `soundly` makes it a model that says `fine` from then on."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.seed = seed
        self.streams = 0  #: answers that it has begun
        self.base_url = ""
        self.refusals: list[str] = []  #: why a real server would have refused requests
        self._sound = False

    def soundly(self) -> None:
        """From now on every answer is whole."""
        self._sound = True

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """One request's answer."""
        body = json.loads(await request.read())
        try:
            Rules().check(body)
        except RequestRefused as refused:
            self.refusals.append(str(refused))
        line = purpose_of(body) is Purpose.COMPACTION
        if self._sound or (line and self.rng.random() < 0.8):
            said = Answer(text="a line" if line else "fine")
            return await _send(request, b"".join(map(sse, _whole(body, said, self.streams))))
        self.streams += 1
        if self.rng.random() < 0.12:
            status = self.rng.choice(STATUSES)
            headers = {"retry-after": self.rng.choice(("1", "-3", "soon", "1e9", "Mon, 30 Nov 2026"))}
            content = None if status == 204 else self.rng.choice(BODIES)
            return web.Response(status=status, body=content, headers=headers)
        return await self._stream(request, body)

    async def _stream(self, request: web.Request, body: Event) -> web.StreamResponse:
        found = _whole(body, self._answer(), self.streams)
        for _ in range(self.rng.choice((0, 1, 1, 2, 3))):
            self.rng.choice(_CHANGES)(self.rng, found)
        raw = b"".join(_loose_sse(event) for event in found)
        for _ in range(self.rng.choice((0, 0, 0, 1, 2))):
            raw = self.rng.choice(_BREAKS)(self.rng, raw)
        kind = "application/json" if self.rng.random() < 0.02 else "text/event-stream"
        return await _send(request, raw, kind=kind, closing=self.rng.random() < 0.1)

    def _answer(self) -> Answer:
        rng = self.rng
        calls = tuple(
            Call(name=rng.choice(NAMES), arguments=rng.choice(ARGUMENTS))
            for _ in range(rng.choice((0, 0, 1, 1, 2, 5)))
        )
        text = rng.choice(("", "fine", *TEXTS))
        return Answer(
            text=text if rng.random() < 0.05 else text[:300],  # a long one is many events, and so is slow
            calls=calls,
            reasoning="hm" if rng.random() < 0.3 else "",
            refusal="no" if rng.random() < 0.05 else "",
            cut=rng.choice(tuple(CutReason)) if rng.random() < 0.05 else None,
            failure=("server_error", "x") if rng.random() < 0.05 else None,
        )


def _whole(body: Event, answer: Answer, number: int) -> list[Event]:
    frame = Frame(body=body, token=f"{number:024x}", number=number, created_at=1.0)
    return [dict(event) for event in events(frame, answer, Usage(input=90, cached=40, output=9, reasoning=3))]


def _loose_sse(event: Any) -> bytes:
    """An event on the wire, whatever became of it; JSON as careless servers write it."""
    kind = event.get("type") if isinstance(event, dict) else None
    head = f"event: {kind}\n".encode() if isinstance(kind, str) and kind.isascii() else b""
    return head + b"data: " + json.dumps(event).encode() + b"\n\n"


# ------------------------------------------------------------ what goes wrong with events


def _drop(rng: random.Random, found: list[Any]) -> None:
    start = rng.randrange(len(found) + 1)
    del found[start : start + rng.choice((1, 1, 2, 50))]


def _again(rng: random.Random, found: list[Any]) -> None:
    if found:
        found.insert(rng.randrange(len(found) + 1), json.loads(json.dumps(rng.choice(found))))


def _swap(rng: random.Random, found: list[Any]) -> None:
    if found:
        one, other = rng.randrange(len(found)), rng.randrange(len(found))
        found[one], found[other] = found[other], found[one]


def _strange(rng: random.Random, found: list[Any]) -> None:
    kind = rng.choice((*KINDS, *JUNK))
    strange = {
        "type": kind,
        "item": rng.choice(JUNK),
        "response": rng.choice(JUNK),
        "delta": rng.choice(JUNK),
    }
    found.insert(rng.randrange(len(found) + 1), rng.choice((strange, rng.choice(JUNK))))


def _wrong(rng: random.Random, found: list[Any]) -> None:
    """One value, somewhere in one event, becomes another or goes."""
    if not found:
        return
    place: Any = found[rng.randrange(len(found))]
    while isinstance(place, dict | list) and place:
        names: Sequence[Any] = list(place) if isinstance(place, dict) else range(len(place))
        name = rng.choice(names)
        if isinstance(place[name], dict | list) and place[name] and rng.random() < 0.8:
            place = place[name]
        elif rng.random() < 0.3:
            del place[name]
            return
        else:
            place[name] = rng.choice(JUNK)
            return


_CHANGES: Final[Sequence[Callable[[random.Random, list[Any]], None]]] = (
    _drop,
    _again,
    _swap,
    _strange,
    *[_wrong] * 4,
)

# ------------------------------------------------------------ and with bytes


def _cut(rng: random.Random, raw: bytes) -> bytes:
    return raw[: rng.randrange(len(raw) + 1)]


def _flipped(rng: random.Random, raw: bytes) -> bytes:
    changed = bytearray(raw)
    for _ in range(rng.choice((1, 3, 20)) if raw else 0):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _line_between(rng: random.Random, raw: bytes) -> bytes:
    ends = [at + 2 for at in range(len(raw) - 1) if raw[at : at + 2] == b"\n\n"]
    at = rng.choice(ends) if ends else 0
    return raw[:at] + rng.choice(LINES) + raw[at:]


def _other_line_ends(_: random.Random, raw: bytes) -> bytes:
    return raw.replace(b"\n", b"\r\n")


_BREAKS: Final[Sequence[Callable[[random.Random, bytes], bytes]]] = (
    _cut,
    _flipped,
    _line_between,
    _other_line_ends,
)


async def _send(
    request: web.Request, raw: bytes, *, kind: str = "text/event-stream", closing: bool = False
) -> web.StreamResponse:
    """`raw` in a few pieces, cut anywhere; `closing`: the connection ends without the stream's end."""
    response = web.StreamResponse(headers={"content-type": kind})
    await response.prepare(request)
    third = len(raw) // 3 + 1
    for start in range(0, len(raw), third):
        await response.write(raw[start : start + third])
        await asyncio.sleep(0)
    if closing and request.transport is not None:
        request.transport.close()
    return response


@asynccontextmanager
async def hostile_model(seed: int) -> AsyncIterator[HostileModel]:
    """Serves one on loopback while the block runs."""
    made = HostileModel(seed)
    app = web.Application(client_max_size=64 * 1024 * 1024)
    app.router.add_post("/v1/responses", made.answer)
    async with serving(app, 0) as made.base_url:
        yield made
