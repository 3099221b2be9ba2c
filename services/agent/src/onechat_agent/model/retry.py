"""When a call is made again. Pure: chance is an argument; seconds throughout."""

import random
from typing import Final

FIRST_DELAY_S: Final = 1.0
LONGEST_DELAY_S: Final = 60.0
SERVER_DELAY_MAX_S: Final = 3600.0  # a server that asks for more is asked again after this
JITTER: Final = 0.25  # of the delay, added on top, so that agents that failed together come apart


def delay_s(attempt: int, *, retry_after_s: float | None, rng: random.Random) -> float:
    """The wait after failed `attempt` (from 1): 1 s doubling to 60 s, or more if the server asks."""
    doublings = min(max(attempt, 1) - 1, 10)  # 2**10 s is past the longest already
    own: float = min(FIRST_DELAY_S * 2**doublings, LONGEST_DELAY_S)
    asked = min(max(retry_after_s or 0.0, 0.0), SERVER_DELAY_MAX_S)
    return max(own, asked) * (1 + JITTER * rng.random())
