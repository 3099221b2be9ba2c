"""Long renderings are cut where a reader would, nothing of them is lost, and their formatting goes on."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onechat_telegram.domain.entities import ENTITIES_MAX, Entity, Rendered
from onechat_telegram.domain.splitting import split
from onechat_telegram.domain.utf16 import between_letters, fitting, units

WORDS = [
    "word ",
    "😀",
    "é",
    "e\u0301",
    "\n",
    "\n\n",
    "  indent ",
    "x" * 70,
    "👩\u200d👩\u200d👧",
    "\u200b",
    "1. one\n",
]
KINDS = ["bold", "italic", "pre", "code", "blockquote", "spoiler"]


@st.composite
def renderings(draw: st.DrawFn) -> Rendered:
    """Any text, with entities anywhere in it."""
    text = draw(st.lists(st.sampled_from(WORDS), max_size=60).map("".join) | st.text(max_size=300)).strip()
    entities = []
    for _ in range(draw(st.integers(0, 8)) if text else 0):
        offset = draw(st.integers(0, units(text) - 1))
        length = draw(st.integers(1, units(text) - offset))
        entities.append(Entity(type=draw(st.sampled_from(KINDS)), offset=offset, length=length))
    return Rendered(text=text, entities=tuple(entities))


def code(text: str, before: str = "", language: str = "", after: str = "") -> Rendered:
    """A text with a block of code in it."""
    block = Entity(type="pre", offset=units(before), length=units(text), language=language)
    return Rendered(text=before + text + after, entities=(block,))


def texts(text: str, room: int) -> list[str]:
    return [part.text for part in split(Rendered(text=text, entities=()), room)]


@given(shown=renderings(), room=st.integers(16, 200))
@settings(max_examples=200, deadline=None)
def test_every_part_fits_and_the_letters_are_all_there_once(shown: Rendered, room: int) -> None:
    parts = list(split(shown, room))

    assert all(0 < units(part.text) <= room for part in parts)
    assert _letters("".join(part.text for part in parts)) == _letters(shown.text)
    for part in parts:
        for entity in part.entities:
            assert 0 <= entity.offset < entity.end <= units(part.text)


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("😀" * 2049, [4096, 2]),
        ("😀" * 5000, [4096, 4096, 1808]),
        ("a" * 4095 + "🎩", [4095, 2]),
        ("!" * 4096, [4096]),
    ],
)
def test_letters_of_two_units_are_counted_as_two_and_never_cut(text: str, sizes: list[int]) -> None:
    parts = texts(text, 4096)

    assert [units(part) for part in parts] == sizes
    assert "".join(parts) == text


@pytest.mark.parametrize("second", ["two " * 700, "two two\n" * 400])
def test_a_paragraph_is_kept_whole_where_it_can_be(second: str) -> None:
    first, second = ("one " * 700).strip(), second.strip()

    assert texts(f"{first}\n\n{second}", 4096) == [first, second]


def test_a_line_is_kept_whole_where_its_paragraph_can_not_be() -> None:
    lines = [f"line {number} " + "x" * 50 for number in range(100)]

    parts = texts("\n".join(lines), 1000)

    assert [line for part in parts for line in part.split("\n")] == lines
    assert all(units(part) > 900 for part in parts[:-1])


def test_a_word_is_kept_whole_where_its_line_can_not_be() -> None:
    parts = texts("word " * 1000, 64)

    assert {word for part in parts for word in part.split(" ")} == {"word"}


@pytest.mark.parametrize("between", ["", "\n"])
def test_code_that_fits_into_a_part_is_kept_whole(between: str) -> None:
    block = "x = 1\n\n" * 20

    before, shown = split(code(block.strip(), before="Look:\n" * 30 + between), 200)

    assert "x = 1" not in before.text
    assert (shown.entities[0].type, shown.entities[0].length) == ("pre", units(block.strip()))


def test_longer_code_goes_on_as_code_of_its_language() -> None:
    lines = [f"    x = {number}" for number in range(1000)]

    parts = list(split(code("\n".join(lines), "Look:\n\n", "python", "\n\nDone."), 4096))

    within = [part for part in parts if part.entities]
    assert len(within) >= 3
    for part in within:
        block = part.entities[-1]
        assert (block.type, block.language) == ("pre", "python")
    assert [line for part in within for line in part.text.split("\n") if "=" in line] == lines


def test_one_line_of_ten_thousand_in_a_block_of_code_ends() -> None:
    parts = list(split(code("y" * 10_000), 4096))

    assert [part.entities[0].length for part in parts] == [4096, 4096, 1808]


def test_a_style_goes_on_where_its_text_is_cut() -> None:
    text = "bold " * 100

    parts = list(split(Rendered(text=text.strip(), entities=(_bold(5, 489),)), 200))

    assert [(one.offset, one.end) for part in parts for one in part.entities] == [
        (5, units(parts[0].text)),
        *((0, units(part.text)) for part in parts[1:-1]),
        (0, 494 - sum(units(part.text) + 1 for part in parts[:-1])),
    ]


def test_no_part_has_more_entities_than_a_message_may() -> None:
    text = "a " * 1000

    parts = list(split(Rendered(text=text.strip(), entities=_every_second(text)), 4096))

    assert [len(part.entities) for part in parts] == [ENTITIES_MAX] * 10
    assert _letters("".join(part.text for part in parts)) == "a" * 1000


def test_a_joined_emoji_is_not_cut_in_two() -> None:
    family = "👩\u200d👩\u200d👧"

    assert between_letters("a" + family, 3) == 1
    assert texts("a" + family * 2, 13) == ["a" + family, family]


def test_what_fits_is_found_by_units() -> None:
    assert fitting("a😀b", 2) == 1
    assert fitting("a😀b", 3) == 2
    assert fitting("ab", 100) == 2


def _bold(offset: int, length: int) -> Entity:
    return Entity(type="bold", offset=offset, length=length)


def _every_second(text: str) -> Sequence[Entity]:
    return tuple(_bold(offset, 1) for offset in range(0, len(text), 2))


def _letters(text: str) -> str:
    """What can be seen, blanks and what only directs other letters apart."""
    return re.sub(r"[\s\u200b-\u200d\x00-\x1f\x7f-\x9f\xad]+", "", text)
