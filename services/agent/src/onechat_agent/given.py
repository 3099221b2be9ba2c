"""What the agent service is put together from: settings, store, neighbours, model; tests give doubles.

Where these come from: __main__.py and wiring.py. What is made of them: assembly.py.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from onechat_runtime.clock import Clock
from onechat_runtime.health import HealthBoard
from onechat_runtime.store import Store

from onechat_agent.adapters.agent_folder import AgentFolder
from onechat_agent.adapters.memory import MemoryClient
from onechat_agent.adapters.memory_images import MemoryImages
from onechat_agent.adapters.scheduler import SchedulerClient
from onechat_agent.adapters.whatsapp import WhatsAppClient
from onechat_agent.config import AgentSettings
from onechat_agent.domain.usage import Price
from onechat_agent.seat import Seat
from onechat_agent.tools.tool import Tool
from onechat_agent.wiring import ModelAtHand


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """All that a service does not make itself."""

    settings: AgentSettings
    store: Store
    memory: MemoryClient
    images: MemoryImages
    scheduler: SchedulerClient
    whatsapp: WhatsAppClient
    model: ModelAtHand
    root: AgentFolder
    zone: str  #: the user's, an IANA name
    prices: Mapping[str, Price]
    clock: Clock
    rng: random.Random
    board: HealthBoard
    far_tools: Sequence[Tool] = ()  #: those that other services stand behind
    change: Callable[[Seat], Seat] = lambda seat: seat  #: what a test makes of each seat

    @property
    def zone_info(self) -> ZoneInfo:
        """The rules of the user's zone."""
        return ZoneInfo(self.zone)
