"""What follows from a built node, and what a piece of work sees."""

from onechat_memory.domain.lines import LINE_MAX
from onechat_memory.domain.ready import Ripple, lines_seen, ripple
from onechat_memory.domain.tree import Node, leaf


def test_a_leaf_without_a_built_sibling_moves_nothing():
    built: dict[Node, str] = {leaf(0): "a"}

    assert ripple(leaf(2), "c", built.get) == Ripple(free=(), ready=None)
    assert ripple(leaf(1), "b", {}.get) == Ripple(free=(), ready=None)


def test_halves_that_fit_make_their_parent_at_once_and_so_on_up():
    """Nobody asks a model for what fits as it is."""
    built = {leaf(0): "a", leaf(1): "b", Node(1, 0): "a\nb", leaf(2): "c"}

    made = ripple(leaf(3), "d", built.get)

    assert made == Ripple(free=((Node(1, 1), "c\nd"), (Node(2, 0), "a\nb\nc\nd")), ready=None)


def test_halves_that_do_not_fit_leave_their_parent_ready():
    built = {leaf(0): "a" * 300}

    assert ripple(leaf(1), "b" * 300, built.get) == Ripple(free=(), ready=Node(1, 0))


def test_the_newline_between_two_halves_counts():
    older = {leaf(0): "a" * 256}

    assert ripple(leaf(1), "b" * (LINE_MAX - 257), older.get).free
    assert ripple(leaf(1), "b" * (LINE_MAX - 256), older.get).ready == Node(1, 0)


def test_halves_are_joined_in_the_order_of_the_log_whichever_is_built_last():
    assert ripple(leaf(0), "a", {leaf(1): "b"}.get).free == ((Node(1, 0), "a\nb"),)


VIEW = [
    (Node(2, 0), True),
    (Node(1, 2), True),
    (leaf(6), True),
    (leaf(7), False),
    (leaf(8), True),
    (leaf(9), False),
]


def test_a_leaf_sees_the_lines_before_its_message():
    assert lines_seen(VIEW, leaf(7)) == 3
    assert lines_seen(VIEW[:3], leaf(7)) == 3


def test_a_merge_sees_the_lines_up_to_its_last_message():
    assert lines_seen(VIEW, Node(1, 2)) == 2
    assert lines_seen(VIEW, Node(2, 0)) == 1


def test_a_piece_sees_nothing_behind_a_line_that_is_not_built():
    assert lines_seen(VIEW, leaf(9)) == 3
    assert lines_seen(VIEW, Node(1, 4)) == 3


def test_the_first_message_sees_nothing():
    assert lines_seen([(leaf(0), False)], leaf(0)) == 0
    assert lines_seen([], leaf(0)) == 0
