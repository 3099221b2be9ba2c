"""The bot's token shows nowhere: it is part of every address, which libraries log and errors quote.

Whoever has it has the bot. Here each call fails in each way, with answers that quote the address themselves,
as a proxy's do.
"""

import logging
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from onechat.telegram.v1 import telegram_service_pb2, telegram_service_pb2_grpc
from onechat_runtime.settings import Secret
from onechat_telegram.adapters.bot_api import BotApi as BotApiClient
from onechat_telegram.adapters.bot_groups import BotGroups
from onechat_telegram.adapters.bot_sends import BotSends
from onechat_telegram.domain.bot_errors import BotApiError
from onechat_telegram.domain.ids import ChatId, FileId, MessageId
from onechat_telegram.domain.outgoing import Message
from onechat_telegram.domain.pieces import PieceKind

from tests.fakes.bot_api import OWNER, TOKEN, BotApi, Trouble, listening
from tests.fakes.pictures import PNG
from tests.fakes.service_process import started
from tests.fakes.telegram_bench import Bench

SECRET = TOKEN.split(":")[1]
QUOTED = f"can't read http://a.example/bot{TOKEN}/x nor /bot{quote(TOKEN, safe='')}/x"
WAYS = {
    **{
        f"a {code}": {"how": "refuse", "code": code} for code in (400, 401, 403, 404, 409, 413, 429, 500, 502)
    },
    "a connection that ends": {"how": "drop"},
    "an answer that is lost": {"how": "lose"},
    "an answer of somebody else": {"how": "garbage"},
}
CHAT = ChatId(OWNER)
A_PHOTO = Message(text="", entities=(), picture=PieceKind.PHOTO, image="a.png")
A_FILE = Message(text="", entities=(), picture=PieceKind.DOCUMENT, image="a.png")
CALLS: dict[str, Callable[[BotApiClient, BotApi], Awaitable[object]]] = {
    "getMe": lambda bot, api: bot.profile(),
    "deleteWebhook": lambda bot, api: bot.forget_webhook(),
    "setMyCommands": lambda bot, api: bot.show_menu([("help", "what there is")]),
    "getUpdates": lambda bot, api: bot.updates(0, 0),
    "sendChatAction": lambda bot, api: bot.show_typing(CHAT),
    "getFile": lambda bot, api: bot.content(_a_file(api), 10_000),
    "file": lambda bot, api: bot.content(_a_file(api), 10_000),
    "sendMessage": lambda bot, api: BotSends(bot).send(CHAT, Message(text="a", entities=())),
    "sendPhoto": lambda bot, api: BotSends(bot).send(CHAT, A_PHOTO, PNG),
    "sendDocument": lambda bot, api: BotSends(bot).send(CHAT, A_FILE, PNG),
    "editMessageText": lambda bot, api: BotSends(bot).change(CHAT, MessageId(1), "b"),
    "editMessageReplyMarkup": lambda bot, api: BotSends(bot).take_buttons(CHAT, MessageId(1)),
    "deleteMessage": lambda bot, api: BotSends(bot).delete(CHAT, MessageId(1)),
    "answerCallbackQuery": lambda bot, api: BotSends(bot).tell_presser("1", "c"),
    "getChatAdministrators": lambda bot, api: BotGroups(bot).administrators(CHAT),
    "getChatMember": lambda bot, api: BotGroups(bot).is_inside(CHAT, OWNER),
    "leaveChat": lambda bot, api: BotGroups(bot).leave(CHAT),
}


@pytest.fixture
async def api() -> AsyncIterator[BotApi]:
    async with listening(BotApi()) as api:
        api.chats.add(OWNER)
        yield api


@pytest.mark.parametrize("way", WAYS)
async def test_no_error_of_any_call_knows_the_token(
    api: BotApi, way: str, capfd: pytest.CaptureFixture[str]
) -> None:
    told: dict[str, str] = {}
    async with BotApiClient.connected(Secret(TOKEN), api.address) as bot:
        for method, ask in CALLS.items():
            api.fail(method, description=QUOTED, **WAYS[way])
            try:
                await ask(bot, api)
            except BotApiError as error:
                told[method] = f"{error!r} {_chain(error)} {''.join(traceback.format_exception(error))}"
            api.heal()

    assert {method for method, text in told.items() if SECRET in text} == set()
    assert len(told) >= len(CALLS) - 4  # what a group's call makes of some is an answer
    assert SECRET not in "".join(capfd.readouterr())


def _a_file(api: BotApi) -> FileId:
    return FileId(api.files.document(PNG, name="a.png")["file_id"])


def _chain(error: BaseException | None) -> list[str]:
    """What led to `error`, also where a traceback would leave it out."""
    return (
        [] if error is None else [repr(error.__cause__), repr(error.__context__), *_chain(error.__context__)]
    )


async def test_no_log_page_status_or_store_of_a_gateway_holds_the_token_whatever_fails(
    bench: Bench, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    bench.api.chats.add(OWNER)
    for method in ("getMe", "getUpdates", "getFile", "file", "sendChatAction"):
        for way in WAYS.values():
            bench.api.fail(method, description=QUOTED, **way)
    said: list[str] = []
    async with bench.running() as running, bench.time_flies():
        running.board.on_change(lambda: said.extend(map(str, running.board.troubles().values())))
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        bench.api.people.show_photo(PNG, "hello")
        for way in WAYS.values():
            running.api.fail("sendMessage", description=QUOTED, **way)
            await bench.agent.reply("**bye**")
            await bench.api.until(lambda: not _ordered(bench.api, "sendMessage"), within_s=30)
        await bench.agent.until(lambda: bool(bench.agent.deliveries))
        await bench.api.until(lambda: not _ordered(bench.api, "getUpdates"), within_s=30)
        stub = telegram_service_pb2_grpc.TelegramServiceStub(running.loopback.channel("operator"))
        status = await stub.GetStatus(telegram_service_pb2.GetStatusRequest(), timeout=20)

    written = "".join(capfd.readouterr())
    stored = b"".join(path.read_bytes() for path in bench.folder.rglob("*") if path.is_file())
    everything = f"{caplog.text}{written}{status}{said}"
    assert "link_lost" in everything
    assert "token" in str(said)
    assert SECRET not in everything
    assert SECRET.encode() not in stored
    assert "hello" not in everything
    assert "bye" not in everything


def test_neither_the_arguments_nor_the_pages_of_the_process_show_the_token(tmp_path: Path) -> None:
    """It comes by a file of settings; everybody on the machine sees a process's arguments."""
    (tmp_path / ".env").write_text(f"TELEGRAM_TOKEN={TOKEN}\nTELEGRAM_BASE_URL=http://127.0.0.1:9\n")

    with started("telegram", tmp_path, ONECHAT_LOG="debug") as service:
        shown = [Path(f"/proc/{service.pid}/cmdline").read_text(), str(service.ready)]
        shown += [service.page(path)[1] for path in ("/healthz", "/metrics")]

    assert "onechat_telegram" in shown[0]
    assert not any(SECRET in text for text in shown)


def _ordered(api: BotApi, method: str) -> list[Trouble]:
    return [trouble for trouble in api.troubles if trouble.method == method]
