"""Names and relatives of nodes, and what is said about lines that do not exist."""

import pytest
from onechat_memory.domain.tree import Node, leaf, no_such_line, node_at


def test_a_node_is_named_by_its_first_message_and_their_count():
    assert Node(3, 5).name == "40+8"
    assert (Node(3, 5).first, Node(3, 5).last, Node(3, 5).count) == (40, 47, 8)
    assert leaf(7).name == "7+1"


def test_a_node_merges_the_two_nodes_below_it():
    node = Node(3, 5)

    older, younger = node.halves

    assert (older.name, younger.name) == ("40+4", "44+4")
    assert older.parent == younger.parent == node
    assert older.sibling == younger
    assert younger.sibling == older


@pytest.mark.parametrize(("first", "count"), [(40, 8), (0, 1), (0, 1 << 40), (7, 1), (6, 2)])
def test_a_name_is_read_back_to_its_node(first: int, count: int):
    node = node_at(first, count)

    assert node is not None
    assert (node.first, node.count) == (first, count)


@pytest.mark.parametrize(("first", "count"), [(41, 8), (-8, 8), (0, 0), (0, 3), (0, -1)])
def test_a_name_that_no_node_can_have_is_none(first: int, count: int):
    assert node_at(first, count) is None


@pytest.mark.parametrize(
    ("first", "count", "near"),
    [
        (41, 8, "40+8, 41+1"),
        (44, 8, "40+8, 44+4"),
        (90, 4, "88+4, 90+2"),
        (98, 4, "96+4, 98+2"),
        (96, 8, "96+4"),
        (0, 128, "0+64"),
        (0, 100, "0+64"),
        (40, 6, "40+4"),
        (40, 0, "40+1"),
        (40, -2, "40+1"),
        (100, 1, "99+1"),
        (100_000, 4096, "99+1"),
        (-1, 1, "99+1"),
    ],
)
def test_a_line_that_is_not_there_names_what_is_near(first: int, count: int, near: str):
    """A model that mistypes a line must get on in one more call."""
    sentence = no_such_line(first, count, 100)

    assert sentence is not None
    assert sentence.startswith(f"There is no line {first}+{count}")
    assert sentence.endswith(f"Near it: {near}.")


def test_lines_that_are_there_have_no_sentence():
    assert no_such_line(96, 4, 100) is None
    assert no_such_line(0, 64, 100) is None
    assert no_such_line(99, 1, 100) is None


def test_an_empty_log_says_that_it_is_empty():
    assert no_such_line(0, 1, 0) == "There is no line 0+1: the log has no messages yet."
