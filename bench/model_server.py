"""The demo's model served in this process; it notes when it had each request of a turn and when it was done.

Times are seconds of the monotonic clock, which all processes of a machine share.
"""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web
from aiohttp.typedefs import Handler
from onechat_demo.model import DemoModel, Purpose
from onechat_demo.rules import Rules
from onechat_demo.server import PURPOSE, ResponsesServer, serving


@dataclass(slots=True)
class NotedModel:
    """A running model."""

    url: str
    answered_s: list[tuple[float, float]] = field(default_factory=list)  #: (read, sent) of turns' requests
    asked: int = 0  #: requests of any kind


@asynccontextmanager
async def noted_model() -> AsyncIterator[NotedModel]:
    """The model, on a free port."""
    model = NotedModel(url="")

    @web.middleware
    async def noting(request: web.Request, handler: Handler) -> web.StreamResponse:
        await request.read()
        read_s = time.monotonic()
        model.asked += 1
        response = await handler(request)
        if request.get(PURPOSE) is Purpose.TURN:
            model.answered_s.append((read_s, time.monotonic()))
        return response

    rules = Rules(models=None, lacks=frozenset())
    app = ResponsesServer(rules=rules, model=DemoModel(), now=time.time).application()
    app.middlewares.append(noting)
    async with serving(app, 0) as url:
        model.url = url
        yield model
