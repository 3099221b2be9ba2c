"""How the messengers' links are, by their services' own words."""

from typing import Any, Final

import grpc.aio
from onechat.telegram.v1 import telegram_service_pb2, telegram_service_pb2_grpc
from onechat.whatsapp.v1 import whatsapp_service_pb2, whatsapp_service_pb2_grpc

from onechat_cli.domain.report import LinkReport

_READ_S: Final = 5.0
_TELEGRAM_LOST: Final = frozenset(
    {
        telegram_service_pb2.LINK_STATE_UNREACHABLE,
        telegram_service_pb2.LINK_STATE_TOKEN_REFUSED,
        telegram_service_pb2.LINK_STATE_OTHER_POLLER,
    }
)
WHATSAPP_WELL: Final = frozenset(
    {
        whatsapp_service_pb2.LINK_STATE_UNSPECIFIED,
        whatsapp_service_pb2.LINK_STATE_NOT_LINKED,
        whatsapp_service_pb2.LINK_STATE_CONNECTED,
    }
)


async def telegram_link(channel: grpc.aio.Channel) -> LinkReport:
    """Telegram's link; RemoteError when the service does not say."""
    stub: Any = telegram_service_pb2_grpc.TelegramServiceStub(channel)
    status = await stub.GetStatus(telegram_service_pb2.GetStatusRequest(), timeout=_READ_S)
    said = [f"@{status.bot}"] if status.bot else []
    if status.pairing_code:
        said.append(f"no owner yet: send /start {status.pairing_code} to the bot")
    if status.inbox:
        said.append(f"{status.inbox} on their way in")
    if status.outbox:
        said.append(f"{status.outbox} on their way out")
    return LinkReport(
        name="telegram",
        state=state_name(telegram_service_pb2.LinkState, status.link),
        lost=status.link in _TELEGRAM_LOST,
        said=tuple(said),
        set_aside=status.set_aside,
    )


async def whatsapp_link(channel: grpc.aio.Channel) -> LinkReport:
    """WhatsApp's link; RemoteError when the service does not say."""
    stub: Any = whatsapp_service_pb2_grpc.WhatsAppServiceStub(channel)
    status = await stub.GetStatus(whatsapp_service_pb2.GetStatusRequest(), timeout=_READ_S)
    said = [f"batches on their way to the agent: {status.batches}"] if status.batches else []
    if status.undecryptable:
        said.append(f"messages that could not be decrypted: {status.undecryptable}")
    if status.trouble:
        said.append(status.trouble)
    return LinkReport(
        name="whatsapp",
        state=state_name(whatsapp_service_pb2.LinkState, status.link),
        lost=status.link not in WHATSAPP_WELL,
        said=tuple(said),
    )


def state_name(states: Any, value: int) -> str:
    """`value` as people say it; a newer version may have more states than are known here."""
    if value not in states.values():
        return f"state {value}"
    name: str = states.Name(value)
    return name.removeprefix("LINK_STATE_").replace("_", " ").lower()
