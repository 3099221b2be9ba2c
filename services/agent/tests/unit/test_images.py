"""Names of stored pictures, their lines, and which of a turn's new ones are shown."""

import pytest
from onechat_agent.domain.images import NEW_MAX, image_name, newest_new, with_marks

A, B, C = "aaaaaaaaaaaaaaaa.png", "bbbbbbbbbbbbbbbb.jpg", "cccccccccccccccc.gif"


@pytest.mark.parametrize("name", [A, B, C, "0123456789abcdef.webp"])
def test_a_stored_name_is_hex_digits_and_an_ending(name: str) -> None:
    assert image_name(name) == name


@pytest.mark.parametrize(
    "text",
    ["", "a.png", "/etc/passwd", f"../{A}", f"{A}\n", A.upper(), "aaaaaaaaaaaaaaaa.svg", "٠" * 16 + ".png"],
)
def test_nothing_else_is_a_stored_name(text: str) -> None:
    assert image_name(text) is None


def test_each_picture_has_a_line_that_is_there_once() -> None:
    assert with_marks(f"look\n[image {A}]", (A, B, B)) == f"look\n[image {A}]\n[image {B}]"


def test_a_picture_without_words_is_its_line() -> None:
    assert with_marks("", (A,)) == f"[image {A}]"


def test_of_too_many_the_newest_are_shown() -> None:
    names = [f"{number:016x}.png" for number in range(NEW_MAX + 3)]

    shown = newest_new([names[:5], names[5:]], ())

    assert shown == [tuple(names[3:5]), tuple(names[5:])]


def test_what_was_shown_stays_and_leaves_the_rest_of_the_room() -> None:
    """Each call begins with the bytes of the one before, so nothing that stands in it gives way."""
    seen = {f"{number:016x}.png" for number in range(NEW_MAX - 1)}

    assert newest_new([(A, B)], seen) == [(B,)]
    assert newest_new([(A,)], {*seen, C}) == [()]


def test_the_same_picture_twice_is_shown_once_with_the_newest() -> None:
    assert newest_new([(A, B), (A,)], ()) == [(B,), (A,)]
    assert newest_new([(A, A)], ()) == [(A,)]
    assert newest_new([(A,)], {A}) == [()]
