"""The board that health answers show."""

from datetime import timedelta

import pytest
from onechat_runtime.health import HealthBoard

from tests.fakes.clock import ManualClock


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def board(clock):
    return HealthBoard(clock)


def test_a_neighbour_keeps_the_time_of_its_last_change(board, clock):
    board.neighbour("memory", serving=False)
    lost = clock.now()
    clock.advance(10)
    board.neighbour("memory", serving=False)
    same = board.neighbours()["memory"]
    board.neighbour("memory", serving=True)

    assert (same.serving, same.since) == (False, lost)
    assert board.neighbours()["memory"].since == lost + timedelta(seconds=10)


def test_a_trouble_stays_until_it_is_cleared_and_keeps_its_time(board, clock):
    board.trouble("outbox", "1 was set aside.")
    began = clock.now()
    clock.advance(5)
    board.trouble("outbox", "2 were set aside.")

    shown = board.troubles()["outbox"]
    board.clear("outbox")

    assert (shown.sentence, shown.since) == ("2 were set aside.", began)
    assert board.troubles() == {}


def test_a_service_with_troubles_and_without_neighbours_still_serves(board):
    board.trouble("outbox", "1 was set aside.")
    board.neighbour("memory", serving=False)

    assert board.serving


def test_listeners_hear_changes_and_nothing_else(board):
    heard = []
    end = board.on_change(lambda: heard.append(len(board.troubles()) + len(board.remarks())))

    board.trouble("a", "x")
    board.trouble("a", "x")
    board.clear("b")
    board.remark("link", "not linked")
    board.remark("link", "not linked")
    board.remark("link", "")
    end()
    board.clear("a")

    assert heard == [1, 2, 1]


def test_whoever_waits_for_a_neighbour_is_called_each_time_it_begins_to_serve(board):
    """What waits to be handed over is tried at once then, and not with each look at one that is there."""
    began = []
    board.on_serving("agent", lambda: began.append(board.neighbours()["agent"].serving))

    for name, serving in [("agent", False), ("memory", True), ("agent", True), ("agent", True)]:
        board.neighbour(name, serving=serving)
    first = list(began)
    board.neighbour("agent", serving=False)
    board.neighbour("agent", serving=True)

    assert first == [True]
    assert began == [True, True]


def test_a_drained_board_serves_no_more(board):
    board.drain()

    assert not board.serving
