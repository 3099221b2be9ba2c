"""What the WhatsApp gateway is told from outside."""

from dataclasses import dataclass

from onechat_runtime.settings import ServiceSettings, address_of, setting
from onechat_runtime.time_zone import zone_name


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatsAppSettings(ServiceSettings):
    """Read once at the start."""

    address: str = address_of("whatsapp")
    agent_address: str = address_of("agent")
    zone: str | None = setting(
        "ONECHAT_TIME_ZONE",
        parse=zone_name,
        default=None,
        doc="the user's IANA time zone, such as Europe/Rome; unset: the machine's",
    )
