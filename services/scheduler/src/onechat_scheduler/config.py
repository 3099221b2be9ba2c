"""The scheduler's settings, read once."""

from dataclasses import dataclass

from onechat_runtime.settings import ServiceSettings, address_of, setting
from onechat_runtime.time_zone import zone_name


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerSettings(ServiceSettings):
    """What the scheduler is told."""

    address: str = address_of("scheduler")
    agent_address: str = address_of("agent")
    zone: str | None = setting(
        "ONECHAT_TIME_ZONE",
        parse=zone_name,
        default=None,
        doc="the user's IANA time zone, such as Europe/Rome; unset: the machine's",
    )
