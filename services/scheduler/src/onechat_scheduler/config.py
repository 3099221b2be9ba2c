"""What the scheduler is told from outside; so far nothing of its own but where to listen."""

from dataclasses import dataclass

from onechat_runtime.settings import ServiceSettings, address_of


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerSettings(ServiceSettings):
    """Read once at the start."""

    address: str = address_of("scheduler")
