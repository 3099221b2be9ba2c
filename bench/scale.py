"""How much a run measures: the whole of it, or just enough to see that each benchmark works."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The sizes of one run. Times are seconds."""

    rounds: int  #: of which each figure is the median
    small_log: int  #: messages of the log that the large one is compared with
    large_log: int
    huge_log: int  #: messages of the longest log, of which no call's cost may know
    case_messages: int  #: of a stored case
    chat_messages: int  #: of a chat that grows
    group_messages: int  #: of a group's conversation
    calls: int  #: of one kind, of which a round's figure is the median
    opens: int  #: of a store, in the same way
    turns: int  #: in a round
    many_turns: int  #: in a round, where the slowest of a hundred is asked for
    flood_s: float  #: how long deliveries come at a steady rate
    schedules: int  #: that a scheduler keeps
    contacts: int  #: that a WhatsApp session has
    caught_up: int  #: messages that WhatsApp kept
    runs_due: int  #: one after the other, in a round
    rate_s: float  #: how long calls are counted
    settle_s: float  #: from the last start until idleness is measured
    idle_s: float  #: how long it is measured


FULL: Final = Scale(
    rounds=5,
    small_log=1_000,
    large_log=100_000,
    huge_log=1_000_000,
    case_messages=3_000,
    chat_messages=1_200,
    group_messages=500,
    calls=200,
    opens=15,
    turns=30,
    many_turns=200,
    flood_s=60.0,
    schedules=10_000,
    contacts=5_000,
    caught_up=5_000,
    runs_due=20,
    rate_s=2.0,
    settle_s=10.0,
    idle_s=10.0,
)
SMOKE: Final = Scale(
    rounds=1,
    small_log=20,
    large_log=60,
    huge_log=100,
    case_messages=300,
    chat_messages=30,
    group_messages=60,
    calls=5,
    opens=2,
    turns=2,
    many_turns=3,
    flood_s=0.5,
    schedules=20,
    contacts=60,
    caught_up=60,
    runs_due=3,
    rate_s=0.1,
    settle_s=0.1,
    idle_s=0.2,
)
