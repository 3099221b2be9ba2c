"""The stand-in Bot API server as a process of its own, with a small control endpoint for tests.

`python -m tests.fakes.bot_api --port N` prints its address. Control, beside /botTOKEN/METHOD, is POST
/control/ACT with the act's arguments as JSON: say {"text", "user", …}, edit {"message_id", "text"}, update
{…any update…}, fail {"method", …}, heal; photo and file {"data": base64, "caption", …}; press {"message_id",
"button"}; and the acts of Groups by their names. GET /control/state gives what was sent and confirmed.
"""

import argparse
import asyncio
from base64 import b64decode
from collections.abc import Callable
from typing import Any

from aiohttp import web

from tests.fakes.bot_api import TOKEN, BotApi, app_of, listening

_GROUP_ACTS = (
    "found",
    "add_bot",
    "remove_bot",
    "mute_bot",
    "hide_members",
    "join",
    "leave",
    "promote",
    "demote",
    "rename",
    "migrate",
    "open_topic",
    "close_topic",
    "reopen_topic",
)


def controlled(api: BotApi) -> web.Application:
    """The server's application with its control endpoint."""
    acts = _acts(api)

    async def state(_: web.Request) -> web.Response:
        return web.json_response(
            {
                "sent": api.sent,
                "edits": api.edits,
                "deleted": api.deleted,
                "answers": api.callbacks.answers,
                "actions": api.actions,
                "commands": api.commands,
                "calls": dict(api.calls),
                "confirmed": api.confirmed,
                "waiting": [update["update_id"] for update in api.updates],
            }
        )

    async def act(request: web.Request) -> web.Response:
        fields: dict[str, Any] = await request.json() if request.can_read_body else {}
        what = request.match_info["what"]
        if what not in acts:
            return web.json_response({"unknown": what}, status=404)
        try:
            return web.json_response(acts[what](fields))
        except (KeyError, TypeError, ValueError) as wrong:
            return web.json_response({"wrong": str(wrong)}, status=400)

    app = app_of(api)
    app.router.add_get("/control/state", state)
    app.router.add_post("/control/{what}", act)
    return app


def _acts(api: BotApi) -> dict[str, Callable[[dict[str, Any]], dict[str, Any]]]:
    """Each act by name: what it does with its arguments, and what it answers."""

    def naming(key: str, does: Callable[..., Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
        return lambda fields: {key: does(**fields)}

    def quiet(does: Callable[..., Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
        def act(fields: dict[str, Any]) -> dict[str, Any]:
            does(**fields)
            return {}

        return act

    def with_content(does: Callable[..., int]) -> Callable[..., int]:
        return lambda data, **fields: does(b64decode(data), **fields)

    groups = {name: naming("result", getattr(api.groups, name)) for name in _GROUP_ACTS}
    return groups | {
        "say": naming("message_id", api.say),
        "edit": quiet(api.edit),
        "update": lambda fields: {"update_id": api.update(fields)},
        "photo": naming("message_id", with_content(api.people.show_photo)),
        "file": naming("message_id", with_content(api.people.show_file)),
        "press": naming("query", api.callbacks.press),
        "fail": quiet(api.fail),
        "heal": quiet(api.heal),
    }


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
