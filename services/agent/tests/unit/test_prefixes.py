"""Which calls go ahead and which wait, so that each byte of a view is paid for once."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from onechat_agent.domain.prefixes import LIFETIME_S, WORTH, CallId, Prefix, Prefixes

CACHE = ("agent-1", "demo")
HEAD = "h" * 8_000
VIEW = tuple(f"{number}+1|user: {'x' * 990}" for number in range(40))
ONE, TWO, THREE, FOUR = (CallId(number) for number in range(1, 5))


def sees(lines: int, view: Sequence[str] = VIEW, head: str = HEAD, cache: tuple[str, str] = CACHE) -> Prefix:
    return Prefix.of(cache, (head, *view[:lines]))


def test_of_calls_that_see_the_same_one_goes_ahead_and_the_others_follow_its_start():
    prefixes = Prefixes()

    ahead = prefixes.ask([(ONE, sees(9)), (TWO, sees(9)), (THREE, sees(9))], 0)
    behind = prefixes.started(ONE, 1)

    assert ahead == [ONE]
    assert sorted(behind) == [TWO, THREE]


def test_the_one_that_sees_most_goes_ahead():
    """Behind a shorter one each of the others would pay for the rest of its own view."""
    prefixes = Prefixes()

    assert prefixes.ask([(ONE, sees(0)), (TWO, sees(30)), (THREE, sees(12))], 0) == [TWO]
    assert sorted(prefixes.started(TWO, 1)) == [ONE, THREE]


def test_the_first_of_equals_goes_ahead():
    assert Prefixes().ask([(TWO, sees(9)), (ONE, sees(9))], 0) == [TWO]


def test_even_calls_that_see_no_line_share_the_head():
    assert Prefixes().ask([(ONE, sees(0)), (TWO, sees(0))], 0) == [ONE]


def test_a_prefix_that_was_read_lately_holds_nobody_up():
    prefixes = Prefixes()
    prefixes.ask([(ONE, sees(20))], 0)
    prefixes.started(ONE, 1)

    assert sorted(prefixes.ask([(TWO, sees(20)), (THREE, sees(7))], LIFETIME_S)) == [TWO, THREE]


def test_a_prefix_that_nobody_used_for_five_minutes_is_cold_again():
    prefixes = Prefixes()
    prefixes.ask([(ONE, sees(20))], 0)
    prefixes.started(ONE, 0)

    assert prefixes.ask([(TWO, sees(20)), (THREE, sees(20))], LIFETIME_S) == [TWO]


def test_each_use_keeps_a_prefix():
    prefixes = Prefixes()
    for number, call in enumerate((ONE, TWO, THREE)):
        prefixes.ask([(call, sees(20))], 200 * number)
        prefixes.started(call, 200 * number)

    assert len(prefixes.ask([(FOUR, sees(20)), (CallId(9), sees(20))], 600)) == 2


def test_a_view_that_grew_by_a_few_lines_is_warm():
    """Between batches a view only grows: most leases find all but their last lines read."""
    prefixes = Prefixes()
    prefixes.ask([(ONE, sees(20))], 0)
    prefixes.started(ONE, 0)

    assert len(prefixes.ask([(TWO, sees(23)), (THREE, sees(23))], 1)) == 2


def test_a_view_that_grew_by_more_than_is_kept_at_least_is_cold():
    prefixes = Prefixes()
    prefixes.ask([(ONE, sees(20))], 0)
    prefixes.started(ONE, 0)

    assert prefixes.ask([(TWO, sees(30)), (THREE, sees(30))], 1) == [TWO]


def test_a_view_that_was_merged_is_cold_from_its_first_new_line_on():
    prefixes = Prefixes()
    prefixes.ask([(ONE, sees(20))], 0)
    prefixes.started(ONE, 0)
    merged = ("0+2|" + "z" * 400, *VIEW[2:])

    assert prefixes.ask([(TWO, sees(19, merged)), (THREE, sees(19, merged))], 1) == [TWO]


def test_a_call_of_another_agent_or_model_or_with_another_head_shares_nothing():
    """Other instructions stand before the view, so that not even an equal view is the same prefix."""
    prefixes = Prefixes()
    others = [
        (ONE, sees(20)),
        (TWO, sees(20, cache=("agent-2", "demo"))),
        (THREE, sees(20, cache=("agent-1", "larger"))),
        (FOUR, sees(20, head="i" * 8_000)),
    ]

    assert sorted(prefixes.ask(others, 0)) == [ONE, TWO, THREE, FOUR]


def test_when_the_first_ends_without_a_start_the_next_one_goes_ahead_alone():
    prefixes = Prefixes()
    prefixes.ask([(ONE, sees(9)), (TWO, sees(8)), (THREE, sees(9))], 0)

    assert prefixes.ended(ONE, 1) == [THREE]
    assert prefixes.started(THREE, 2) == [TWO]


def test_one_that_waits_and_is_given_up_is_forgotten():
    prefixes = Prefixes()
    prefixes.ask([(ONE, sees(9)), (TWO, sees(9))], 0)

    assert prefixes.ended(TWO, 1) == []
    assert prefixes.started(ONE, 2) == []


def test_a_call_that_sees_more_than_the_one_on_its_way_waits_and_then_goes_ahead_of_its_equals():
    prefixes = Prefixes()
    prefixes.ask([(ONE, sees(10))], 0)

    assert prefixes.ask([(TWO, sees(30)), (THREE, sees(30))], 1) == []
    assert prefixes.started(ONE, 2) == [TWO]
    assert prefixes.started(TWO, 3) == [THREE]


def test_what_would_be_gained_must_be_worth_the_wait():
    small = "s" * (WORTH - 1)

    assert len(Prefixes().ask([(ONE, sees(0, head=small)), (TWO, sees(0, head=small))], 0)) == 2
    assert len(Prefixes().ask([(ONE, sees(0, head=small + "s")), (TWO, sees(0, head=small + "s"))], 0)) == 1


@given(st.lists(st.integers(0, 40), min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_no_order_of_starts_reads_more_than_the_longest_view_and_what_is_not_worth_a_wait(seen, chance):
    prefixes = Prefixes()
    calls = {CallId(number): sees(lines) for number, lines in enumerate(seen)}
    going = prefixes.ask(calls.items(), 0)
    cached = paid = 0
    order = []
    while going:
        order += going
        paid += sum(max(0, calls[call].size - cached) for call in going)
        cached = max(cached, *(calls[call].size for call in going))
        starting = list(going)
        chance.shuffle(starting)
        going = [call for started in starting for call in prefixes.started(started, 1)]

    assert sorted(order) == sorted(calls)
    assert paid <= max(prefix.size for prefix in calls.values()) + WORTH * len(calls)
