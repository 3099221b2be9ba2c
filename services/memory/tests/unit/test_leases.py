"""Who may work on which node, and for how long."""

import pytest
from onechat_memory.domain.leases import LEASE_S, OUT_MAX, REST_S, Edition, LeaseId, Leases
from onechat_memory.domain.tree import leaf

LOG = Edition(7, 1)


@pytest.fixture
def leases() -> Leases:
    made = Leases(epoch="e")
    made.hold("agent")
    return made


def test_a_leased_node_is_out_until_its_lease_ends(leases: Leases):
    leases.lease(LOG, [leaf(1), leaf(2)], 0.0)

    assert leases.unavailable(LOG, LEASE_S - 1) == {leaf(1), leaf(2)}
    assert leases.unavailable(LOG, LEASE_S) == frozenset()


def test_at_most_eight_of_a_log_are_out_and_logs_do_not_count_together(leases: Leases):
    leases.lease(LOG, [leaf(number) for number in range(6)], 0.0)

    assert leases.room(LOG, 1.0) == OUT_MAX - 6
    assert leases.room(Edition(8, 1), 1.0) == OUT_MAX
    assert leases.room(LOG, LEASE_S) == OUT_MAX


def test_a_new_holder_frees_what_the_old_one_had(leases: Leases):
    leases.lease(LOG, [leaf(1)], 0.0)

    assert not leases.hold("agent")
    assert leases.unavailable(LOG, 1.0) == {leaf(1)}
    assert leases.hold("agent, started again")
    assert leases.unavailable(LOG, 1.0) == frozenset()


def test_a_piece_given_back_is_free_at_once(leases: Leases):
    (lease,) = leases.lease(LOG, [leaf(1)], 0.0)

    assert leases.give_back(LOG, leaf(1), lease.id, 1.0, rest=False)
    assert leases.unavailable(LOG, 1.0) == frozenset()


def test_a_piece_whose_content_failed_rests_first(leases: Leases):
    (lease,) = leases.lease(LOG, [leaf(1)], 0.0)

    assert leases.give_back(LOG, leaf(1), lease.id, 1.0, rest=True)
    assert leases.room(LOG, 1.0) == OUT_MAX
    assert leases.unavailable(LOG, REST_S) == {leaf(1)}
    assert leases.unavailable(LOG, 1.0 + REST_S) == frozenset()


def test_a_lease_that_has_ended_cannot_be_given_back(leases: Leases):
    """Such a failure counts nothing: somebody else may have the piece by now."""
    (first,) = leases.lease(LOG, [leaf(1)], 0.0)
    (second,) = leases.lease(LOG, [leaf(1)], LEASE_S)

    assert not leases.give_back(LOG, leaf(1), first.id, LEASE_S, rest=True)
    assert not leases.give_back(LOG, leaf(2), second.id, LEASE_S, rest=True)
    assert leases.give_back(LOG, leaf(1), second.id, LEASE_S, rest=True)
    assert not leases.give_back(LOG, leaf(1), second.id, LEASE_S, rest=True)


def test_leases_of_another_start_are_not_taken_for_ones_of_this(leases: Leases):
    (lease,) = leases.lease(LOG, [leaf(1)], 0.0)
    restarted = Leases(epoch="f")
    restarted.lease(LOG, [leaf(1)], 0.0)

    assert not restarted.give_back(LOG, leaf(1), lease.id, 1.0, rest=True)
    assert not restarted.give_back(LOG, leaf(1), LeaseId(""), 1.0, rest=True)


def test_the_next_change_is_the_first_lease_or_rest_to_end(leases: Leases):
    assert leases.next_change(0.0) is None

    first, _ = leases.lease(LOG, [leaf(1), leaf(2)], 0.0)
    assert leases.next_change(20.0) == LEASE_S - 20

    leases.give_back(LOG, leaf(1), first.id, 20.0, rest=True)
    assert leases.next_change(20.0) == REST_S


def test_what_has_ended_is_no_next_change(leases: Leases):
    """A wait for it would last no time and come again at once, for as long as the log has no other work."""
    first, _ = leases.lease(LOG, [leaf(1), leaf(2)], 0.0)
    leases.give_back(LOG, leaf(1), first.id, 1.0, rest=True)

    assert leases.next_change(1.0 + REST_S) == LEASE_S - 1 - REST_S
    assert leases.next_change(LEASE_S) is None


def test_what_was_out_or_resting_of_a_log_is_forgotten_when_another_takes_its_place(leases: Leases):
    """A swap gives the id another edition; nothing of the old one may free or hold up a piece."""
    first, second = leases.lease(LOG, [leaf(1), leaf(2)], 0.0)
    leases.give_back(LOG, leaf(1), first.id, 1.0, rest=True)

    leases.forget(LOG)

    assert leases.unavailable(LOG, 1.0) == frozenset()
    assert leases.room(LOG, 1.0) == OUT_MAX
    assert leases.next_change(1.0) is None
    assert not leases.give_back(LOG, leaf(2), second.id, 1.0, rest=True)


def test_generations_of_one_log_do_not_count_together(leases: Leases):
    (lease,) = leases.lease(LOG, [leaf(1)], 0.0)
    later = Edition(LOG.number, LOG.generation + 1)

    assert leases.room(later, 1.0) == OUT_MAX
    assert not leases.give_back(later, leaf(1), lease.id, 1.0, rest=True)


def test_what_is_out_does_not_hold_what_rests(leases: Leases):
    first, _ = leases.lease(LOG, [leaf(1), leaf(2)], 0.0)
    leases.give_back(LOG, leaf(1), first.id, 1.0, rest=True)

    assert leases.out(LOG, 1.0) == {leaf(2)}
    assert leases.out(LOG, LEASE_S) == frozenset()
