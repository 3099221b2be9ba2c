"""What makes a line valid, and how it is shown."""

import pytest
from onechat_memory.domain.lines import (
    LINE_CUT,
    LINE_MAX,
    PLACEHOLDER,
    accepted,
    degraded,
    is_own_line,
    leaf_source,
    merge_source,
    shown,
    shown_view,
)
from onechat_memory.domain.text import size
from onechat_memory.domain.tree import Node


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        ("  user: hello \n", "user: hello"),
        ("user: a\nreply: b\r\nnote: c", "user: a reply: b  note: c"),
        ("40+8|user: hello", "user: hello"),
        (" 40+8| user: hello", "user: hello"),
        ("8+8 is 16", "8+8 is 16"),
        ("", ""),
        (" \n ", ""),
        ("40+8|", ""),
        ("a\x00b\ud800", "a\ufffdb\ufffd"),
    ],
)
def test_a_models_answer_becomes_a_line(answer: str, line: str):
    assert accepted(answer) == line


def test_a_line_up_to_twice_the_target_is_kept_as_it_is():
    assert accepted("x" * LINE_CUT) == "x" * LINE_CUT


def test_a_longer_line_is_cut_at_a_characters_end():
    line = accepted("x" + "€" * 1000)

    assert line == "x" + "€" * ((LINE_CUT - 1) // 3)
    assert size(line) <= LINE_CUT


def test_what_fits_is_counted_in_bytes():
    assert is_own_line("x" * LINE_MAX)
    assert not is_own_line("x" * (LINE_MAX + 1))
    assert is_own_line("é" * (LINE_MAX // 2))
    assert not is_own_line("é" * (LINE_MAX // 2) + "x")


def test_a_newline_in_a_line_is_shown_as_a_space():
    assert shown(Node(3, 5), "user: a\nreply: b") == "40+8|user: a reply: b"


def test_what_is_not_built_shows_its_placeholder():
    assert shown(Node(0, 9627), None) == f"9627+1|{PLACEHOLDER}"
    assert PLACEHOLDER == "(not summarized yet: zoom it)"


def test_a_view_stands_between_its_tags():
    assert shown_view(["0+2|a", "2+1|b"]) == "<chat>\n0+2|a\n2+1|b\n</chat>"
    assert shown_view([]) == "<chat>\n</chat>"


def test_sources_say_what_they_are():
    older, younger = Node(1, 0), Node(1, 1)

    assert leaf_source("user", "hello\nthere") == "user: hello\nthere"
    assert merge_source(older, "user: a\nreply: b", younger, "note: c") == "0+2|user: a reply: b\n2+2|note: c"


def test_a_degraded_line_is_the_head_of_its_source():
    line = degraded("user: " + "é" * 1000)

    assert line.startswith("user: é")
    assert LINE_MAX - 1 <= size(line) <= LINE_MAX
    assert degraded("user: a\nb") == "user: a b"
