"""The HTTP side of the stand-in Bot API server: /botTOKEN/METHOD by GET or POST, query, form or JSON, and
/file/botTOKEN/PATH. Methods are named in any case, as Telegram takes them.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Protocol

from aiohttp import web

from tests.fakes.bot_api_fields import Upload
from tests.fakes.bot_api_files import UPLOAD_MAX, Files
from tests.fakes.bot_api_refusals import TOO_LARGE, RefusedByBotApi
from tests.fakes.bot_api_troubles import Trouble, Troubles

Method = Callable[[Mapping[str, Any]], Awaitable[Any]]
_FORM_MAX = UPLOAD_MAX + 64 * 1024


class Served(Protocol):
    """What a bot's server is made of."""

    token: str
    address: str
    calls: Any
    methods: Mapping[str, Method]
    files: Files
    faults: Troubles

    def change(self) -> None: ...
    def heal(self) -> None: ...


def app_of(api: Served) -> web.Application:
    """`api` as a web application."""
    names = {name.lower(): name for name in api.methods}

    async def call(request: web.Request) -> web.StreamResponse:
        asked = request.match_info["method"]
        name = names.get(asked.lower(), asked)
        try:
            fields = await _fields(request)
        except ConnectionResetError:
            return web.Response()  # whoever called was killed
        except web.HTTPRequestEntityTooLarge:
            return _refusal(RefusedByBotApi(413, TOO_LARGE))
        except ValueError:
            return _refusal(RefusedByBotApi(400, "Bad Request: can't parse the request"))
        api.calls[name] += 1
        api.change()
        if (wrong := _wrong_token(api, request)) is not None:
            return _refusal(wrong)
        if name not in api.methods:
            return _refusal(RefusedByBotApi(404, "Not Found: method not found"))

        async def done() -> web.Response:
            return web.json_response({"ok": True, "result": await api.methods[name](fields)})

        return await _answered(request, api.faults.met_by(name, fields), done)

    async def download(request: web.Request) -> web.StreamResponse:
        api.calls["file"] += 1
        api.change()
        if (wrong := _wrong_token(api, request)) is not None:
            return _refusal(wrong)

        async def done() -> web.Response:
            content = api.files.content(request.match_info["path"])
            return web.Response(body=content, content_type="application/octet-stream")

        return await _answered(request, api.faults.met_by("file", {}), done)

    app = web.Application(client_max_size=_FORM_MAX)
    app.router.add_get("/file/bot{token}/{path:.+}", download)
    app.router.add_route("*", "/bot{token}/{method}", call)
    return app


async def _answered(
    request: web.Request, trouble: Trouble | None, done: Callable[[], Awaitable[web.Response]]
) -> web.StreamResponse:
    """What `done` answers, unless `trouble` comes in between."""
    how = trouble.how if trouble is not None else ""
    try:
        if trouble is not None and how == "refuse":
            raise trouble.refusal()
        if how == "drop":
            return _broken(request)
        if how == "garbage":
            return web.json_response(["Welcome to our network"])
        if trouble is not None and how == "hold":
            await trouble.released.wait()
        answer = await done()
        if trouble is not None and how == "hang":
            await trouble.released.wait()
        return _broken(request) if how in {"lose", "hang"} else answer
    except RefusedByBotApi as refused:
        return _refusal(refused)


def _wrong_token(api: Served, request: web.Request) -> RefusedByBotApi | None:
    return None if request.match_info["token"] == api.token else RefusedByBotApi(401, "Unauthorized")


async def _fields(request: web.Request) -> dict[str, Any]:
    if request.content_type == "application/json" and request.can_read_body:
        body = await request.json()
        if not isinstance(body, dict):
            raise ValueError("an object is needed")
        return {**request.query, **body}
    return {**request.query, **{name: _value(value) for name, value in (await request.post()).items()}}


def _value(value: Any) -> Any:
    if not isinstance(value, web.FileField):
        return value
    return Upload(name=value.filename, content_type=value.content_type, data=value.file.read())


def _refusal(refused: RefusedByBotApi) -> web.Response:
    body: dict[str, Any] = {"ok": False, "error_code": refused.code, "description": refused.description}
    if refused.parameters:
        body["parameters"] = refused.parameters
    return web.json_response(body, status=refused.code)


def _broken(request: web.Request) -> web.Response:
    if request.transport is not None:
        request.transport.close()
    return web.Response()


@asynccontextmanager
async def serving_http(
    api: Served, app: web.Application | None = None, *, port: int = 0
) -> AsyncIterator[None]:
    """Serve `api` on loopback; its address is set."""
    runner = web.AppRunner(app or app_of(api), access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    api.address = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield
    finally:
        api.heal()
        await runner.cleanup()
