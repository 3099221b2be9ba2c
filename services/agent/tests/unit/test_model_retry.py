"""How long to wait before a call is made again."""

import random

from hypothesis import given
from hypothesis import strategies as st
from onechat_agent.model.retry import JITTER, LONGEST_DELAY_S, SERVER_DELAY_MAX_S, delay_s


def test_delays_double_up_to_a_minute():
    delays = [delay_s(attempt, retry_after_s=None, rng=random.Random(1)) for attempt in range(1, 12)]

    bases = [1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60]
    assert all(base <= delay <= base * (1 + JITTER) for base, delay in zip(bases, delays, strict=True))


@given(attempt=st.integers(1, 10**9), asked=st.floats(0, 10**9), seed=st.integers())
def test_the_server_is_never_asked_again_sooner_than_it_wants(attempt, asked, seed):
    delay = delay_s(attempt, retry_after_s=asked, rng=random.Random(seed))

    assert min(asked, SERVER_DELAY_MAX_S) <= delay
    assert delay <= max(LONGEST_DELAY_S, SERVER_DELAY_MAX_S) * (1 + JITTER)


def test_two_agents_that_failed_together_do_not_come_back_together():
    rng = random.Random(7)

    assert delay_s(3, retry_after_s=20, rng=rng) != delay_s(3, retry_after_s=20, rng=rng)


def test_a_delay_below_nothing_is_no_delay():
    assert delay_s(1, retry_after_s=-5, rng=random.Random(1)) >= 1
