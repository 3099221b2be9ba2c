"""The server: POST /v1/responses, GET /v1/models and GET /v1/models/NAME over HTTP on loopback.

It checks each request (rules.py), lets the model answer (model.py) and sends that (events.py, sending.py).
A Stage is how tests watch and direct it; without one nothing is kept and nothing goes wrong on purpose.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

from onechat_demo.events import events, final_response
from onechat_demo.model import DemoModel, Purpose, purpose_of
from onechat_demo.records import Outcome, Record, Records
from onechat_demo.refusals import RequestRefused, error_body
from onechat_demo.response import Frame, JsonDict, token_of
from onechat_demo.rules import Rules, read_body
from onechat_demo.scripts import Script, ScriptQueue
from onechat_demo.sending import send_stream, send_whole
from onechat_demo.usage import PrefixCache, usage_of

BODY_BYTES_MAX = 64 * 1024 * 1024
SHUTDOWN_S = 0.2  # an answer takes no time, so what is still open by then waits on purpose
MODEL_NAME = "demo"
PURPOSE = web.RequestKey("purpose", Purpose)  # what a request was for, once it was read; for middlewares


@dataclass(slots=True, kw_only=True)
class Stage:
    """Scripts for the requests to come, and the record of those that came."""

    scripts: ScriptQueue = field(default_factory=ScriptQueue)
    records: Records = field(default_factory=Records)


class ResponsesServer:
    """The handlers and what they share."""

    def __init__(
        self, *, rules: Rules, model: DemoModel, now: Callable[[], float], stage: Stage | None = None
    ) -> None:
        """`now` gives seconds since 1970, for `created_at` alone."""
        self._rules = rules
        self._model = model
        self._now = now
        self._stage = stage
        self._cache = PrefixCache()
        self._calls = 0

    def application(self) -> web.Application:
        """The web application; control.py adds its routes to it."""
        app = web.Application(client_max_size=BODY_BYTES_MAX)
        app.router.add_post("/v1/responses", self.create_response)
        app.router.add_get("/v1/models", self.list_models)
        app.router.add_get("/v1/models/{name}", self.get_model)
        return app

    async def list_models(self, _request: web.Request) -> web.Response:
        """The models of the server's list; without one, the demo's own name (any name is served)."""
        names = [MODEL_NAME] if self._rules.models is None else sorted(self._rules.models)
        return web.json_response({"object": "list", "data": [_model(name) for name in names]})

    async def get_model(self, request: web.Request) -> web.Response:
        """One model, or 404."""
        name = request.match_info["name"]
        if self._rules.models is not None and name not in self._rules.models:
            message = f"The model '{name}' does not exist."
            body = error_body(message, kind="invalid_request_error", param="model", code="model_not_found")
            return web.json_response(body, status=404)
        return web.json_response(_model(name))

    async def create_response(self, request: web.Request) -> web.StreamResponse:
        """One call of the model, streamed if the request says so."""
        raw = await request.read()
        record = self._begin(request, raw)
        try:
            response = await self._respond(request, raw, record)
        except RequestRefused as refused:
            record.refusal = refused.message
            record.end(Outcome.REFUSED)
            await self._read(record)
            return web.json_response(refused.body(), status=refused.status)
        except asyncio.CancelledError:
            record.end(Outcome.GONE)
            raise
        except ConnectionError:
            record.end(Outcome.GONE)
            return web.Response()  # which nobody gets; an exception would be logged as a fault of ours
        record.end(Outcome.ANSWERED)
        return response

    async def _respond(self, request: web.Request, raw: bytes, record: Record) -> web.StreamResponse:
        record.body = body = read_body(raw)
        self._rules.check(body)
        request[PURPOSE] = purpose = purpose_of(body)
        await self._read(record, purpose)
        script = await self._cue(body, purpose)
        if script.http is not None:
            record.end(Outcome.FAULT)
            return web.json_response(
                script.http.body(), status=script.http.status, headers=script.http.headers()
            )
        answer = script.answer if script.answer is not None else self._model.answer(body)
        self._calls += 1
        usage = usage_of(body, answer, self._cache)
        frame = Frame(body=body, token=token_of(raw), number=self._calls, created_at=self._now())
        if script.goes_wrong:
            record.end(Outcome.FAULT)
        if body.get("stream"):
            return await send_stream(request, events(frame, answer, usage), script)
        return await send_whole(request, final_response(frame, answer, usage), script)

    def _begin(self, request: web.Request, raw: bytes) -> Record:
        if self._stage is None:
            return Record(number=0, raw=b"", headers={})
        headers = {name.lower(): value for name, value in request.headers.items()}
        return self._stage.records.begin(raw, headers)

    async def _read(self, record: Record, purpose: Purpose | None = None) -> None:
        if self._stage is not None:
            await self._stage.records.read(record, purpose)

    async def _cue(self, body: JsonDict, purpose: Purpose) -> Script:
        """The script for this request, once its gate is open; an empty one when there is none."""
        script = None if self._stage is None else self._stage.scripts.take(body, purpose)
        if script is None:
            return Script()
        if script.gate is not None:
            await script.gate.passed()
        return script


@asynccontextmanager
async def serving(app: web.Application, port: int) -> AsyncIterator[str]:
    """Serves `app` on loopback (port 0: a free one) while the block runs; gives its address, `http://…/v1`."""
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=SHUTDOWN_S)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


def _model(name: str) -> JsonDict:
    return {"id": name, "object": "model", "created": 0, "owned_by": "onechat"}
