"""What turns work with: the services and rooms that every turn of every agent shares."""

from dataclasses import dataclass

from onechat_runtime.clock import Clock
from onechat_runtime.store import Store

from onechat_agent.adapters.memory import MemoryClient
from onechat_agent.asking import Asking
from onechat_agent.day_limit import DayLimit
from onechat_agent.events import Events
from onechat_agent.patience import Patience
from onechat_agent.pictures import PictureSource
from onechat_agent.queue import Queue
from onechat_agent.telling import Telling
from onechat_agent.usage_book import UsageBook
from onechat_agent.views import Views


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """Shared by all turns; belongs to one event loop."""

    store: Store
    memory: MemoryClient
    queue: Queue
    events: Events
    views: Views
    pictures: PictureSource
    asking: Asking
    usage: UsageBook
    telling: Telling
    day: DayLimit
    patience: Patience
    clock: Clock
