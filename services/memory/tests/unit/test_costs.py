"""What lines cost in model calls: what is believed, and what counts as asking again."""

import pytest
from onechat_memory.domain.costs import CALLS_MAX, Asked, Costs, cost


@pytest.mark.parametrize(
    ("told", "believed"),
    [
        ((1, 0), (1, 0)),
        ((5, 5), (5, 5)),
        ((0, 0), (0, 0)),
        ((-3, -1), (0, 0)),
        ((2, -1), (2, 0)),
        ((2, 3), (2, 2)),
        ((0, 4), (0, 0)),
        ((2**31 - 1, 2**31 - 1), (CALLS_MAX, CALLS_MAX)),
    ],
)
def test_what_a_worker_tells_is_brought_within_its_bounds(told, believed):
    """A line is worth more than the count that comes with it, so none is refused for it."""
    asked = Asked.told(*told)

    assert (asked.calls, asked.over_length) == believed


def test_the_first_call_for_a_line_asks_and_the_others_ask_again():
    assert cost(Asked(calls=3, over_length=2), before=False, line=True) == Costs(
        lines=1, calls=3, over_length=2, retries=2
    )


def test_after_calls_that_gave_no_line_even_the_first_call_asks_again():
    assert cost(Asked(calls=1), before=True, line=True) == Costs(lines=1, calls=1, retries=1)


def test_a_line_that_no_model_was_asked_for_costs_nothing_whatever_was_asked_before():
    assert cost(Asked(), before=True, line=True) == Costs()
    assert cost(Asked(), before=False, line=True) == Costs()


def test_calls_that_gave_no_line_are_calls_all_the_same():
    assert cost(Asked(calls=2, over_length=1), before=False, line=False) == Costs(
        calls=2, over_length=1, retries=1
    )
