"""When batches wait for a catch-up, and that they never wait for long."""

from hypothesis import given, settings
from hypothesis import strategies as st
from onechat_whatsapp.domain import catch_up
from onechat_whatsapp.domain.catch_up import LONGEST_S, Waiting

BOOTED_S = 86_400.0  # the clock stands somewhere
EVENTS = {
    "came": catch_up.came,
    "heard": catch_up.heard,
    "broke": lambda waiting, now: catch_up.broke(waiting),
    "finished": catch_up.finished,
    "ended": catch_up.ended,
}


def at(seconds):
    return BOOTED_S + seconds


def over(waiting, seconds):
    return catch_up.is_over(waiting, at(seconds))


def test_without_a_link_what_was_kept_goes_at_once():
    assert over(catch_up.started(at(0), linked=False), 0)


def test_with_a_link_what_was_kept_waits_for_the_connection_a_minute_at_most():
    waiting = catch_up.started(at(0), linked=True)

    assert not over(waiting, 59)
    assert over(waiting, 60)


def test_the_minute_begins_with_the_connection():
    waiting = catch_up.came(catch_up.started(at(0), linked=True), at(50))

    assert not over(waiting, 109)
    assert over(waiting, 110)


def test_it_is_over_when_whatsapp_says_so():
    waiting = catch_up.finished(catch_up.came(catch_up.started(at(0), linked=True), at(5)), at(7))

    assert over(waiting, 7)


def test_it_is_over_when_nothing_more_can_come():
    assert over(catch_up.ended(catch_up.started(at(0), linked=True), at(3)), 3)


def test_a_later_connection_begins_another_one():
    live = catch_up.gone(catch_up.finished(catch_up.came(Waiting(), at(0)), at(1)), at(1))

    waiting = catch_up.came(catch_up.broke(live), at(100))

    assert (over(live, 99), over(waiting, 100), over(waiting, 160)) == (False, False, True)


def test_a_connection_that_is_told_of_twice_begins_none():
    live = catch_up.gone(catch_up.finished(catch_up.came(Waiting(), at(0)), at(1)), at(1))

    assert catch_up.came(live, at(100)) == live


def test_a_connection_that_is_told_of_twice_within_a_catch_up_makes_it_no_longer():
    waiting = catch_up.came(Waiting(), at(0))

    assert catch_up.came(waiting, at(30)) == waiting


def test_a_connection_that_breaks_within_a_catch_up_makes_it_no_longer():
    waiting = catch_up.came(Waiting(), at(0))
    for second in range(1, 60):
        waiting = catch_up.came(catch_up.broke(waiting), at(second))

    assert over(waiting, 60)


def test_a_second_connection_within_a_catch_up_has_a_minute_of_its_own_after_it():
    """What is still to come of it would else be batched by when it comes."""
    first = catch_up.came(Waiting(), at(0))
    second = catch_up.came(catch_up.broke(first), at(50))

    after = catch_up.gone(second, at(60))

    assert (over(second, 60), over(after, 109), over(after, 110)) == (True, False, True)
    assert catch_up.gone(after, at(110)) == Waiting(online=True)


def test_a_second_connection_that_has_brought_all_is_no_catch_up_any_more():
    second = catch_up.came(catch_up.broke(catch_up.came(Waiting(), at(0))), at(50))

    assert catch_up.gone(catch_up.finished(second, at(52)), at(52)) == Waiting(online=True)


def test_a_second_connection_that_broke_too_leaves_nothing_to_wait_for():
    second = catch_up.came(catch_up.broke(catch_up.came(Waiting(), at(0))), at(50))

    assert catch_up.gone(catch_up.broke(second), at(60)) == Waiting()


def test_a_message_before_the_word_of_a_connection_begins_one():
    """The library may give the first messages before it says that it is connected."""
    waiting = catch_up.heard(Waiting(), at(0))

    assert not over(waiting, 59)
    assert over(waiting, 60)
    assert catch_up.heard(waiting, at(30)) == waiting
    assert catch_up.came(waiting, at(10)) == catch_up.came(Waiting(), at(10))


def test_a_message_on_a_standing_connection_begins_none():
    live = Waiting(online=True)

    assert catch_up.heard(live, at(0)) == live


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(sorted(EVENTS)), st.integers(0, 70)), max_size=60))
def test_whatever_comes_nothing_waits_for_more_than_a_minute_of_connection(told):
    """And a minute more at a start, until there is one."""
    waiting, second, began = catch_up.started(at(0), linked=True), 0, 0
    for event, pause in told:
        second += pause
        if catch_up.is_over(waiting, at(second)):
            waiting, began = catch_up.gone(waiting, at(second)), second
        was, waiting = waiting, EVENTS[event](waiting, at(second))
        if was.until is None:
            began = second
        if waiting.until is not None:
            assert waiting.until - at(began) <= 2 * LONGEST_S
            assert not waiting.connected or waiting.until - at(second) <= LONGEST_S
