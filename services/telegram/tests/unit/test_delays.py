"""How long to wait until a call of the Bot API is tried again."""

import pytest
from onechat_telegram.domain.bot_errors import NotReached, TooManyCalls, delay_after


@pytest.mark.parametrize(("named_s", "waits_s"), [(30.0, 30.0), (3_600.0, 3_600.0), (0.0, 1.0)])
def test_telegrams_own_delay_counts_but_no_try_follows_at_once(named_s: float, waits_s: float) -> None:
    assert delay_after(9, TooManyCalls("", retry_after_s=named_s), 1.2) == waits_s


def test_any_other_wait_doubles_up_to_a_minute() -> None:
    waits = [delay_after(failures, NotReached(), 1.0) for failures in (1, 2, 3, 6, 7, 5_000)]

    assert waits == [1, 2, 4, 32, 60, 60]
