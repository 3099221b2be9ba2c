"""What the memory service is told from outside; it needs nothing of its own but where to listen."""

from dataclasses import dataclass

from onechat_runtime.settings import ServiceSettings, address_of


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySettings(ServiceSettings):
    """Read once at the start."""

    address: str = address_of("memory")
