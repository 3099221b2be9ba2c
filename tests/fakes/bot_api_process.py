"""The stand-in Bot API server as a process of its own, with a small control endpoint for tests.

`python -m tests.fakes.bot_api --port N` prints its address. Control, beside /botTOKEN/METHOD:
POST /control/say {"text", "user", …}, /control/edit {"message_id", "text"}, /control/update {…any update…},
/control/fail {"method", …} and /control/heal; GET /control/state gives what was sent, polled and confirmed.
"""

import argparse
import asyncio
from typing import Any

from aiohttp import web

from tests.fakes.bot_api import TOKEN, BotApi, app_of, listening


def controlled(api: BotApi) -> web.Application:
    """The server's application with its control endpoint."""

    async def state(_: web.Request) -> web.Response:
        return web.json_response(
            {
                "sent": api.sent,
                "actions": api.actions,
                "commands": api.commands,
                "calls": dict(api.calls),
                "confirmed": api.confirmed,
                "waiting": [update["update_id"] for update in api.updates],
            }
        )

    async def act(request: web.Request) -> web.Response:
        fields: dict[str, Any] = await request.json() if request.can_read_body else {}
        match request.match_info["what"]:
            case "say":
                return web.json_response({"message_id": api.say(**fields)})
            case "edit":
                api.edit(**fields)
            case "update":
                return web.json_response({"update_id": api.update(fields)})
            case "fail":
                api.fail(**fields)
            case "heal":
                api.heal()
            case unknown:
                return web.json_response({"unknown": unknown}, status=404)
        return web.json_response({})

    app = app_of(api)
    app.router.add_get("/control/state", state)
    app.router.add_post("/control/{what}", act)
    return app


async def run(port: int, token: str) -> None:
    api = BotApi(token)
    async with listening(api, controlled(api), port=port):
        print(api.address, flush=True)
        await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--token", default=TOKEN)
    arguments = parser.parse_args()
    asyncio.run(run(arguments.port, arguments.token))


if __name__ == "__main__":
    main()
