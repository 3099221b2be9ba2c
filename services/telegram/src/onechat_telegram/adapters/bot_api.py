"""The Bot API, by python-telegram-bot's Bot: polls in raw JSON, files, and what can go wrong as bot_errors.py
has it. What the bot puts into chats: bot_sends.py.

The bot's token is part of every address, so nothing of an error's cause is handed on, and the loggers of the
libraries that log addresses are silenced. Times are seconds.
"""

import logging
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from ssl import SSLContext
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import httpx
import telegram
import telegram.error
from onechat_runtime.settings import Secret
from telegram.request import HTTPXRequest
from telegram.warnings import PTBDeprecationWarning, PTBUserWarning

from onechat_telegram.adapters.file_download import FileDownload
from onechat_telegram.domain.bot_errors import (
    BotApiError,
    ChatClosed,
    ChatMoved,
    FileTooLarge,
    NotReached,
    OtherPoller,
    OutcomeUnknown,
    Refused,
    TokenRefused,
    TooManyCalls,
)
from onechat_telegram.domain.ids import BotId, BotProfile, ChatId, FileId, bot_of_token
from onechat_telegram.domain.updates import POLLED_FOR

T = TypeVar("T")

POLL_S: Final = 50  # how long Telegram may wait for an update
CONNECT_S: Final = 10.0
ANSWER_S: Final = 20.0
UPDATES_MAX: Final = 100
UPDATE_ID_MAX: Final = 2**53  # far above Telegram's, which have 32 bits
_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
_CLOSED: Final = ("chat not found", "user is deactivated", "can't initiate conversation", "peer_id_invalid")
_TOO_LARGE: Final = "file is too big"  # to be fetched by a bot
_NOT_SENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)


class BotApi:
    """One bot at one Bot API server. Every call raises BotApiError alone."""

    bot: BotId

    def __init__(self, token: Secret, bot: BotId, base_url: str) -> None:
        """Use `connected`."""
        self.bot = bot
        self._token = token
        # A proxy of the environment is for the internet, not for a server on this machine.
        outside = urlsplit(base_url).hostname not in _LOOPBACK
        # Once, and only where it is used: it is slow to read and large.
        certificates = httpx.create_ssl_context() if base_url.startswith("https:") else None
        self._download = FileDownload(token, base_url, outside=outside, certificates=certificates)
        self._requests = [
            _request(answer_s, outside, certificates) for answer_s in (POLL_S + ANSWER_S, ANSWER_S)
        ]
        poll, other = self._requests
        self._api = telegram.Bot(
            token.reveal(), base_url=f"{base_url}/bot", get_updates_request=poll, request=other
        )

    @classmethod
    @asynccontextmanager
    async def connected(cls, token: Secret, base_url: str) -> AsyncIterator["BotApi"]:
        """The bot of `token`, a well-formed one; nothing is sent before the first call."""
        _silence()
        bot = bot_of_token(token.reveal())
        if bot is None:
            raise ValueError("no bot's token")
        api = cls(token, bot, base_url)
        try:
            yield api
        finally:
            for request in api._requests:
                await request.shutdown()
            await api._download.close()

    async def profile(self) -> BotProfile:
        """Who the bot is."""
        me = await self._call(self._api.do_api_request("getMe"))
        if not isinstance(me, dict):
            raise NotReached("an answer that is not Telegram's")
        return BotProfile(
            bot=self.bot,
            user_name=str(me.get("username", "")),
            name=str(me.get("first_name", "")),
            hears_all=bool(me.get("can_read_all_group_messages")),
        )

    async def forget_webhook(self) -> None:
        """End a webhook that another program set, else polls are refused; updates stay."""
        await self._call(self._api.delete_webhook(drop_pending_updates=False))

    async def show_menu(self, commands: Sequence[tuple[str, str]]) -> None:
        """Set the command menu: names and what they do."""
        await self._call(self._api.set_my_commands(list(commands)))

    async def updates(self, offset: int, wait_s: int) -> list[Mapping[str, Any]]:
        """Updates in Telegram's own JSON and order, as soon as there are some, else none after `wait_s`.

        Telegram forgets those before `offset`; 0 forgets none.
        """
        fields = {"timeout": wait_s, "limit": UPDATES_MAX, "allowed_updates": list(POLLED_FOR)}
        if offset:
            fields["offset"] = offset
        found = await self._call(self._api.do_api_request("getUpdates", fields))
        if not isinstance(found, list) or not all(map(_is_update, found)):
            raise NotReached("an answer that is not Telegram's")
        return found

    async def content(self, file: FileId, most: int) -> bytes:
        """What is in `file`; FileTooLarge where that is more than `most` bytes, whatever Telegram claims."""
        try:
            found = await self._call(self._api.do_api_request("getFile", {"file_id": file}))
        except Refused as error:
            if _TOO_LARGE in str(error).lower():
                raise FileTooLarge(str(error)) from None
            raise
        path = found.get("file_path") if isinstance(found, dict) else None
        if not path:
            raise Refused("Telegram names no place where the file is")
        return await self._download.content(str(path), most)

    async def show_typing(self, chat: ChatId) -> None:
        """Show "typing…" in `chat` for five seconds, or until the next message."""
        await self._call(self._api.send_chat_action(chat, "typing"))

    async def ask(self, call: Callable[[telegram.Bot], Awaitable[T]]) -> T:
        """What `call` gets from the bot, for the rooms beside this one."""
        return await self._call(call(self._api))

    async def _call(self, call: Awaitable[T]) -> T:
        try:
            return await call
        except telegram.error.TelegramError as error:
            found = self._meaning(error)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            # Something between here and Telegram answers in its stead, such as a hotel's network.
            found = NotReached(f"an answer that is not Telegram's: {type(error).__name__}")
        raise found  # outside of the handler, so that its cause, which knows the address, is not attached

    def _meaning(self, error: telegram.error.TelegramError) -> BotApiError:
        # Its second half alone is secret, and stays as it is in whatever spelling an address is quoted.
        text = error.message.replace(self._token.reveal().partition(":")[2], "TOKEN")[:200]
        match error:
            case telegram.error.RetryAfter():
                return TooManyCalls(text, retry_after_s=_seconds(error.retry_after))
            case telegram.error.ChatMigrated():
                return ChatMoved(text, chat=ChatId(error.new_chat_id))
            case telegram.error.BadRequest():  # a kind of NetworkError, so before it
                closed = any(sign in text.lower() for sign in _CLOSED)
                return ChatClosed(text) if closed else Refused(text)
            case telegram.error.Forbidden():
                return ChatClosed(text)
            case telegram.error.Conflict():
                return OtherPoller(text)
            case telegram.error.InvalidToken():
                return TokenRefused(text)
        cause = error.__cause__
        if isinstance(cause, httpx.HTTPError) and not isinstance(cause, _NOT_SENT):
            return OutcomeUnknown(type(cause).__name__)
        return NotReached(type(cause).__name__ if cause is not None else text)


def _request(answer_s: float, outside: bool, certificates: SSLContext | None) -> HTTPXRequest:
    return HTTPXRequest(
        connection_pool_size=8,
        read_timeout=answer_s,
        write_timeout=ANSWER_S,
        connect_timeout=CONNECT_S,
        pool_timeout=CONNECT_S,
        httpx_kwargs={"trust_env": outside, "verify": certificates or False},
    )


def _is_update(found: object) -> bool:
    """Whether `found` has an id that can be kept with the offset; what else it holds is read later."""
    number = found.get("update_id") if isinstance(found, dict) else None
    return isinstance(number, int) and 0 <= number <= UPDATE_ID_MAX


def _seconds(period: int | timedelta) -> float:
    return period.total_seconds() if isinstance(period, timedelta) else float(period)


def _silence() -> None:
    """Keep addresses, which hold the token, and message texts out of every log, at any level."""
    for name in ("httpx", "httpcore", "telegram"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    # Raw JSON is meant: the typed methods would lose fields that this version does not know.
    warnings.filterwarnings("ignore", "Please use 'Bot", PTBUserWarning)
    # Both types of retry_after, the one that is and the one that is announced, are read by `_seconds`.
    warnings.filterwarnings("ignore", ".*attribute `retry_after`", PTBDeprecationWarning)
