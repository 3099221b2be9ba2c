"""The telegram service's settings, read once."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from onechat_runtime.settings import Secret, ServiceSettings, address_of, one_of, secret, setting
from onechat_runtime.time_zone import zone_name

TELEGRAM: Final = "https://api.telegram.org"


def _user(text: str) -> int:
    if text.isascii() and text.isdigit() and 0 < len(text) < 16:
        return int(text)
    raise ValueError("write your Telegram user id, a number such as 123456789; @userinfobot tells it")


def _base_url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme in {"http", "https"} and parts.netloc and not parts.query:
        return text.rstrip("/").removesuffix("/bot")
    raise ValueError(f"write the address of a Bot API server, such as {TELEGRAM}")


@dataclass(frozen=True, slots=True, kw_only=True)
class TelegramSettings(ServiceSettings):
    """What the telegram service is told."""

    address: str = address_of("telegram")
    agent_address: str = address_of("agent")
    bot_token: Secret | None = secret(
        "TELEGRAM_TOKEN", doc="the bot's token, from @BotFather; unset: no Telegram"
    )
    owner: int | None = setting(
        "TELEGRAM_OWNER_ID",
        parse=_user,
        default=None,
        doc="the Telegram user id of the bot's owner; unset: the first to send the pairing code",
    )
    drafts: bool = setting(
        "TELEGRAM_DRAFTS",
        parse=lambda text: one_of("1", "0")(text) == "1",
        default=False,
        doc="1: a long answer is shown as it comes, in one message that changes",
    )
    zone: str | None = setting(
        "ONECHAT_TIME_ZONE",
        parse=zone_name,
        default=None,
        doc="the user's IANA time zone, such as Europe/Rome; unset: the machine's",
    )
    base_url: str = setting("TELEGRAM_BASE_URL", parse=_base_url, default=TELEGRAM, doc="the Bot API server")
