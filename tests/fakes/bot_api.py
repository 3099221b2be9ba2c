"""A Bot API server on loopback that keeps Telegram's promises, and breaks them on demand.

Offsets as Telegram has them: an offset forgets what lies before it, one far past the newest update is taken
for that of an older numbering, a second poller ends the first with 409. What was sent is kept as it would be
shown. It answers python-telegram-bot and curl alike. As a process of its own, for tests that kill the
gateway: bot_api_process.py, also by `python -m tests.fakes.bot_api --port N`.
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from aiohttp import web

from tests.fakes.bot_api_rules import RefusedByBotApi, checked_entities, checked_text

TOKEN = "8100200300:AAfake-token_of_the_stand-in-server"
OWNER = 5550001
UPDATES_MAX = 100
_FUTURE = 10  # an offset further past the newest update than this is of another numbering


@dataclass(kw_only=True)
class Trouble:
    """A fault of a method: the next `times` calls get it, or every call while `times` is None."""

    method: str
    #: "refuse" answers `code`; "drop" ends the connection with nothing done, "lose" after it was done;
    #: "hang" does it and never answers; "hold" waits for `released` before it is done; "garbage" is a page of
    #: something between here and Telegram.
    how: Literal["refuse", "drop", "lose", "hang", "hold", "garbage"] = "refuse"
    code: int = 500
    description: str = ""
    retry_after: int = 0
    times: int | None = 1
    only_formatted: bool = False  #: only messages with entities
    skip: int = 0  #: calls that go well before the first
    released: asyncio.Event = field(default_factory=asyncio.Event)


_DESCRIPTIONS = {
    400: "Bad Request: can't parse entities",
    401: "Unauthorized",
    403: "Forbidden: bot was blocked by the user",
    409: "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
    429: "Too Many Requests: retry later",
    500: "Internal Server Error",
    502: "Bad Gateway",
}


class BotApi:
    """The server's state; tests read it and act as Telegram's users through it."""

    def __init__(self, token: str = TOKEN, *, username: str = "onechat_test_bot") -> None:
        self.token = token
        self.username = username
        self.address = ""  #: "http://127.0.0.1:PORT" while it listens
        self.chats: set[int] = set()  #: private chats that were opened by their user
        self.blocked: set[int] = set()  #: chats whose user has blocked the bot
        self.sent: list[dict[str, Any]] = []  #: messages of the bot as shown, oldest first
        self.actions: list[tuple[int, str]] = []  #: sendChatAction: chat, action
        self.commands: list[dict[str, str]] = []  #: the command menu
        self.calls: Counter[str] = Counter()  #: calls by method, failed ones too
        self.allowed_updates: list[str] | None = None
        self.confirmed: list[int] = []  #: offsets that a poller has sent
        self.updates: list[dict[str, Any]] = []  #: not yet confirmed
        self.troubles: list[Trouble] = []
        self.next_update_id = 700_000_001
        self._message_id = 0
        self._changed = asyncio.Event()
        self._poller: asyncio.Event | None = None

    @property
    def bot_id(self) -> int:
        return int(self.token.split(":")[0])

    def say(self, text: str, *, user: int = OWNER, date: int | None = None, **fields: Any) -> int:
        """`user` writes to the bot in private; the message's id."""
        self.chats.add(user)
        message = self._message(user, user, date) | {"text": text} | fields
        self.update({"message": message})
        return int(message["message_id"])

    def edit(self, message_id: int, text: str, *, user: int = OWNER, edit_date: int | None = None) -> None:
        """`user` edits a message of theirs."""
        message = self._message(user, user, None, message_id) | {"text": text}
        self.update({"edited_message": message | {"edit_date": edit_date or int(time.time())}})

    def update(self, body: Mapping[str, Any]) -> int:
        """Any update; gets the next id unless it has one."""
        update_id = int(body.get("update_id", self.next_update_id))
        self.updates.append({"update_id": update_id} | dict(body))
        self.next_update_id = update_id + 1
        self.change()
        return update_id

    def texts(self, chat: int = OWNER) -> list[str]:
        """What the bot has said in `chat`, oldest first."""
        return [message["text"] for message in self.sent if message["chat"]["id"] == chat]

    def fail(self, method: str, **what: Any) -> Trouble:
        """Have calls of `method` fail; see Trouble."""
        trouble = Trouble(method=method, **what)
        self.troubles.append(trouble)
        return trouble

    def heal(self) -> None:
        """End all troubles; calls that are held go on."""
        for trouble in self.troubles:
            trouble.released.set()
        self.troubles.clear()

    async def until(self, condition: Callable[[], bool], within_s: float = 10.0) -> None:
        """Return once `condition` holds; TimeoutError after `within_s` of real time."""
        async with asyncio.timeout(within_s):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    def change(self) -> None:
        """Wake whoever waits for a change."""
        self._changed.set()
        if self._poller is not None:
            self._poller.set()

    def _message(
        self, chat: int, user: int, date: int | None, message_id: int | None = None
    ) -> dict[str, Any]:
        if message_id is None:
            self._message_id += 1
        return {
            "message_id": message_id or self._message_id,
            "from": {"id": user, "is_bot": False, "first_name": "Ada"},
            "chat": {"id": chat, "type": "private", "first_name": "Ada"},
            "date": int(time.time()) if date is None else date,
        }

    def trouble_for(self, method: str, fields: Mapping[str, Any]) -> Trouble | None:
        """The trouble that this call of `method` gets, used up by it."""
        for trouble in self.troubles:
            if trouble.method != method or (trouble.only_formatted and not fields.get("entities")):
                continue
            if trouble.skip > 0:
                trouble.skip -= 1
                continue
            if trouble.times is not None:
                trouble.times -= 1
                if trouble.times <= 0:
                    self.troubles.remove(trouble)
            return trouble
        return None

    async def getUpdates(self, fields: Mapping[str, Any]) -> list[dict[str, Any]]:
        offset, limit = int(fields.get("offset", 0)), int(fields.get("limit", UPDATES_MAX))
        if "allowed_updates" in fields:
            raw = fields["allowed_updates"]
            self.allowed_updates = json.loads(raw) if isinstance(raw, str) else raw
        if self._poller is not None:
            self._poller.set()
        mine = self._poller = asyncio.Event()
        try:
            self._forget(offset)
            deadline = time.monotonic() + int(fields.get("timeout", 0))
            while not (found := self._shown(limit)) and time.monotonic() < deadline and self._poller is mine:
                mine.clear()
                try:
                    async with asyncio.timeout(deadline - time.monotonic()):
                        await mine.wait()
                except TimeoutError:
                    break
            if self._poller is not mine:
                raise RefusedByBotApi(409, _DESCRIPTIONS[409])
            return found
        finally:
            if self._poller is mine:
                self._poller = None

    def _forget(self, offset: int) -> None:
        if offset > 0:
            self.confirmed.append(offset)
        newest = max((update["update_id"] for update in self.updates), default=offset)
        if 0 < offset <= newest + _FUTURE:
            self.updates = [update for update in self.updates if update["update_id"] >= offset]
        elif offset < 0:
            self.updates = self.updates[offset:]
        self._changed.set()

    def _shown(self, limit: int) -> list[dict[str, Any]]:
        allowed = self.allowed_updates
        self.updates = [u for u in self.updates if not allowed or any(kind in u for kind in allowed)]
        return self.updates[:limit]

    async def getMe(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        return {"id": self.bot_id, "is_bot": True, "first_name": "One", "username": self.username}

    async def sendMessage(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        chat = self._open_chat(fields)
        text = checked_text(str(fields.get("text", "")))
        entities = checked_entities(text, fields.get("entities"))
        self._message_id += 1
        message = {
            "message_id": self._message_id,
            "from": await self.getMe({}),
            "chat": {"id": chat, "type": "private"},
            "date": int(time.time()),
            "text": text,
        } | ({"entities": entities} if entities else {})
        self.sent.append(message)
        self.change()
        return message

    async def sendChatAction(self, fields: Mapping[str, Any]) -> bool:
        self.actions.append((self._open_chat(fields), str(fields["action"])))
        self.change()
        return True

    async def setMyCommands(self, fields: Mapping[str, Any]) -> bool:
        raw = fields["commands"]
        self.commands = json.loads(raw) if isinstance(raw, str) else raw
        self.change()
        return True

    async def deleteWebhook(self, fields: Mapping[str, Any]) -> bool:
        if str(fields.get("drop_pending_updates", "")).lower() == "true":
            self.updates.clear()
        return True

    def _open_chat(self, fields: Mapping[str, Any]) -> int:
        chat = int(fields["chat_id"])
        if chat not in self.chats:
            raise RefusedByBotApi(400, "Bad Request: chat not found")
        if chat in self.blocked:
            raise RefusedByBotApi(403, _DESCRIPTIONS[403])
        return chat


def app_of(api: BotApi) -> web.Application:
    """The HTTP side of `api`: /botTOKEN/METHOD, by GET or POST, form or JSON."""

    async def call(request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        try:
            fields = await _fields(request)
        except ConnectionResetError:
            return web.Response()  # whoever called was killed
        api.calls[method] += 1
        api.change()
        if request.match_info["token"] != api.token:
            return _refusal(RefusedByBotApi(401, "Unauthorized"))
        answer = getattr(api, method, None) if method[:3] in {"get", "sen", "set", "del"} else None
        if answer is None:
            return _refusal(RefusedByBotApi(404, "Not Found: method not found"))
        trouble = api.trouble_for(method, fields)
        try:
            if trouble is not None and trouble.how == "refuse":
                raise _refusal_of(trouble)
            if trouble is not None and trouble.how == "hold":
                await trouble.released.wait()
            elif trouble is not None and trouble.how == "drop":
                return _broken(request)
            elif trouble is not None and trouble.how == "garbage":
                return web.json_response(["Welcome to our network"])
            result = await answer(fields)
            if trouble is not None and trouble.how == "hang":
                await trouble.released.wait()
            if trouble is not None and trouble.how in {"lose", "hang"}:
                return _broken(request)
        except RefusedByBotApi as refused:
            return _refusal(refused)
        return web.json_response({"ok": True, "result": result})

    app = web.Application()
    app.router.add_route("*", "/bot{token}/{method}", call)
    return app


async def _fields(request: web.Request) -> dict[str, Any]:
    if request.content_type == "application/json" and request.can_read_body:
        return dict(await request.json())
    return {**request.query, **(await request.post())}


def _refusal_of(trouble: Trouble) -> RefusedByBotApi:
    description = trouble.description or _DESCRIPTIONS.get(trouble.code, "Error")
    more = {"retry_after": trouble.retry_after} if trouble.retry_after else {}
    return RefusedByBotApi(trouble.code, description, **more)


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
async def listening(
    api: BotApi, app: web.Application | None = None, *, port: int = 0
) -> AsyncIterator[BotApi]:
    """Serve `api` on loopback; `api.address` is set."""
    runner = web.AppRunner(app or app_of(api), access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    bound = runner.addresses[0][1]
    api.address = f"http://127.0.0.1:{bound}"
    try:
        yield api
    finally:
        api.heal()
        await runner.cleanup()


if __name__ == "__main__":
    from tests.fakes.bot_api_process import main

    main()
