"""Two readers of the stand-in Bot API server: plain HTTP, as curl would call it, and the types of
python-telegram-bot, which are the public schema as others have written it down.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import aiohttp
import telegram

from tests.fakes.bot_api import BotApi

NOON = 1_790_000_000.0


class Hands:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> float:
        return self.now


@dataclass(frozen=True)
class Answer:
    """What came back over HTTP."""

    status: int
    body: Any

    @property
    def result(self) -> Any:
        assert self.body["ok"] is True, self.body
        return self.body["result"]

    @property
    def refusal(self) -> tuple[int, str]:
        """Code and description, which are those of the status line too."""
        assert self.body["ok"] is False, self.body
        assert self.status == self.body["error_code"]
        return self.body["error_code"], self.body["description"]


class Caller:
    """Calls methods with JSON, as curl would."""

    def __init__(self, api: BotApi, session: aiohttp.ClientSession) -> None:
        self.api = api
        self.session = session

    async def __call__(self, method: str, /, *, token: str = "", **fields: Any) -> Answer:
        address = f"{self.api.address}/bot{token or self.api.token}/{method}"
        async with self.session.post(address, json=fields) as response:
            return Answer(response.status, await response.json())

    async def download(self, path: str, *, token: str = "") -> tuple[int, bytes]:
        address = f"{self.api.address}/file/bot{token or self.api.token}/{path}"
        async with self.session.get(address) as response:
            return response.status, await response.read()


def unknown_fields(shown: Any, where: str = "") -> Iterator[str]:
    """The fields below `shown` that the schema of python-telegram-bot does not have."""
    if isinstance(shown, telegram.TelegramObject):
        yield from (f"{where}.{name}" for name in shown.api_kwargs)
        names = {name for cls in type(shown).__mro__ for name in getattr(cls, "__slots__", ())}
        for name in sorted(names - {"_bot", "api_kwargs", "_id_attrs", "_frozen"}):
            yield from unknown_fields(getattr(shown, name, None), f"{where}.{name}")
    elif isinstance(shown, list | tuple):
        for place, item in enumerate(shown):
            yield from unknown_fields(item, f"{where}[{place}]")
