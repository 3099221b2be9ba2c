"""A schedule and a run of it, as the rest of the service knows them. Instants are aware and UTC."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, NewType

ScheduleId = NewType("ScheduleId", int)
OwnerId = NewType("OwnerId", str)
"""An agent's random id: a later agent of the same name has another."""

TEXT_MAX: Final = 10_000  #: characters
OWNER_MAX: Final = 200  #: characters


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """What an agent is to be told, and when: either `at` or `cron` is set."""

    id: ScheduleId
    owner: OwnerId
    text: str
    at: str | None  #: local time of a single run, YYYY-MM-DD HH:MM
    cron: str | None  #: five fields of numbers, one space between them
    zone: str  #: the IANA zone of both
    backed: bool  #: whether the user stood behind it when it was set
    last_time: datetime  #: the latest due instant that is dealt with; at first when it was set
    next_time: datetime | None  #: the next due instant; None when none will come


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What was due and is to be handed over: the same words under the same key until it is answered."""

    schedule: ScheduleId
    owner: OwnerId
    due: datetime
    text: str
    backed: bool

    @property
    def source(self) -> str:
        """What the agent service knows it came from."""
        return f"schedule:{self.schedule}"

    @property
    def key(self) -> str:
        """Its delivery's key, the same whenever it is handed over."""
        return f"{self.source}:{self.due:%Y-%m-%dT%H:%MZ}"
