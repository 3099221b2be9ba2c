"""Replies become pieces that Telegram takes, and together they are the whole text."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onechat_telegram.adapters.markdown import render
from onechat_telegram.domain.entities import ENTITIES_MAX, STYLES, Entity, Rendered, cleaned, link_shown
from onechat_telegram.domain.pieces import TEXT_MAX, Piece, pieces_of, plain_pieces_of
from onechat_telegram.domain.utf16 import blank, units

FRAGMENTS = [
    *["plain words ", "😀🎩 ", "**bold** ", "*it* ", "~~struck~~ ", "||hidden|| ", "`code` ", "**a `b` c** "],
    *[
        "[link](https://a.example/x_y) ",
        "[rel](./b_c.md) ",
        "[js](javascript:alert) ",
        "![alt](http://x.example/a_b.png) ",
    ],
    *[
        "<b>html</b> ",
        "List<String> ",
        "$HOME/$PATH ",
        "a || b || c ",
        "https://a.example/c_d_e ",
        "x < y > z & w ",
    ],
    *["\n", "\n\n", "# Head\n", "- item\n", "3. three\n7. seven\n", "> quote\n", "---\n", "- [ ] task\n"],
    *[
        "\n```python\nx_1 = {'a': 2}\n```\n",
        "\n~~~\n",
        "\n| a | b |\n|---|---|\n| c | d | e |\n\n",
        "[1]: http://r.example\n",
    ],
    *["**bold ||cross** hidden|| ", "||", "**", "`", "$$", "<!-- gone? --> ", "\\", "[](http://e.example) "],
]
MARKDOWN = st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join)


def pieces(text: str, room: int = TEXT_MAX) -> tuple[Piece, ...]:
    return pieces_of(text, render, room)


def test_a_text_of_nothing_but_formatting_is_rendered_once() -> None:
    """A long reply of headings took two minutes when each size that was tried was rendered anew."""
    rendered = 0

    def dense(part: str) -> Rendered:
        nonlocal rendered
        rendered += 1
        bold = tuple(Entity(type="bold", offset=offset, length=1) for offset in range(0, len(part), 2))
        return Rendered(text=part, entities=bold)

    made = pieces_of("a " * 5_000, dense)

    assert all(len(piece.entities) <= ENTITIES_MAX for piece in made)
    assert sum(len(piece.entities) for piece in made) == 5_000
    assert rendered == 1


def test_hundreds_of_entities_are_cleaned_at_once() -> None:
    """Each is compared with those that it meets, not cut along all that there are."""
    text = "ab " * 400
    bold = [Entity(type="bold", offset=3 * place, length=2) for place in range(400)]
    italic = [Entity(type="italic", offset=3 * place + 1, length=1) for place in range(400)]

    assert len(cleaned(text, [*bold, *italic])) == 800


@given(text=MARKDOWN | st.text(max_size=200), room=st.sampled_from([100, 300, TEXT_MAX]))
@settings(max_examples=120, deadline=None)
def test_every_piece_is_one_that_telegram_takes(text: str, room: int) -> None:
    for piece in pieces(text, room):
        assert units(piece.text) <= room
        assert units(piece.plain) <= room
        assert not blank(piece.text)
        assert len(piece.entities) <= ENTITIES_MAX
        _assert_taken(piece.text, piece.entities)


@given(text=MARKDOWN, room=st.sampled_from([100, 300, TEXT_MAX]))
@settings(max_examples=120, deadline=None)
def test_no_word_of_a_text_is_lost_by_its_formatting(text: str, room: int) -> None:
    """A fence's language and a link's address go into entities; everything else is in the text."""
    shown = pieces(text, room)

    seen = " ".join(
        f"{piece.text} {' '.join(e.url + ' ' + e.language for e in piece.entities)}" for piece in shown
    )
    words = set(re.findall(r"[A-Za-z]{2,}|\d+", text)) - {"1"}
    assert {word for word in words if word not in seen} == set()


@pytest.mark.parametrize(
    "text", ["😀" * 2049, "😀" * 5000, "a" * 4095 + "🎩", "!" * 4096, "word " * 3000, "line of words\n" * 900]
)
def test_pieces_of_plain_text_are_together_the_whole_text(text: str) -> None:
    shown = pieces(text)

    assert all(units(piece.text) <= TEXT_MAX for piece in shown)
    assert re.sub(r"\s", "", "".join(piece.text for piece in shown)) == re.sub(r"\s", "", text)


def test_a_long_fence_is_code_of_its_language_in_every_piece() -> None:
    shown = pieces("```rust\n" + "let x = 1;\n" * 500 + "```")

    assert len(shown) == 2
    for piece in shown:
        assert piece.entities == (Entity(type="pre", offset=0, length=units(piece.text), language="rust"),)
    assert sum(piece.text.count("let x = 1;") for piece in shown) == 500


def test_the_plain_text_of_a_short_reply_is_the_reply_as_it_was_written() -> None:
    text = "![alt](http://x.example/a_b.png) and https://a.example/b_c_d **now**"

    [piece] = pieces(text)

    assert piece.plain == text
    assert [entity.url for entity in piece.entities if entity.type == "text_link"] == [
        "http://x.example/a_b.png"
    ]


def test_more_entities_than_a_message_may_have_make_more_messages() -> None:
    text = " ".join(f"**{number}**" for number in range(250))

    shown = pieces(text)

    assert len(shown) >= 3
    assert sum(len(piece.entities) for piece in shown) == 250


def test_a_table_that_grows_when_it_is_drawn_still_fits() -> None:
    """Columns are padded to their widest cell, so a small source can be a large text."""
    rows = "".join(f"| {'w' * (200 if number == 5 else 1)} | {number} |\n" for number in range(60))

    shown = pieces(f"| a | b |\n|---|---|\n{rows}")

    assert len(shown) > 1
    assert all(piece.entities[0].type == "pre" for piece in shown)


@pytest.mark.parametrize("text", ["", "  \n\t ", "\u200b", "\n\n\n"])
def test_a_text_in_which_nothing_can_be_seen_has_no_pieces(text: str) -> None:
    assert pieces(text) == ()


def test_what_does_not_render_goes_as_it_was_written() -> None:
    def broken(source: str) -> Rendered | None:
        return None

    assert pieces_of("**a**", broken) == (Piece(text="**a**", entities=(), plain="**a**"),)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("use List<String> here", "use List<String> here"),
        ("<div>\nhello\n</div>", "<div>\nhello\n</div>"),
        ("$HOME/$PATH", "$HOME/$PATH"),
        ("a || b || c", "a || b || c"),
        ("[x](./y_z.md)", "[x](./y_z.md)"),
        ("[x](javascript:alert)", "[x](javascript:alert)"),
        ("![](http://a.example/b.png)", "![](http://a.example/b.png)"),
        ("3. a\n5. b", "3. a\n5. b"),
        ("- [ ] a\n- [x] b", "☐ a\n☑ b"),
        ("see\n\n[1]: http://a.example/b", "see\n\n[1]: http://a.example/b"),
        ("```\na || b <c> $d$\n```", "a || b <c> $d$"),
    ],
)
def test_what_telegram_can_not_show_is_shown_as_it_was_written(source: str, text: str) -> None:
    [piece] = pieces(source)

    assert piece.text == text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("see http://b.example/_g_/*k*/~~m~~x now", "see http://b.example/_g_/*k*/~~m~~x now"),
        ("**http://b.example/a_b** *http://b.example/c*", "http://b.example/a_b http://b.example/c"),
        ("[http://b.example/_g_](http://b.example/_g_)", "http://b.example/_g_"),
        ("<http://b.example/_g_> `http://b.example/_g_`", "http://b.example/_g_ http://b.example/_g_"),
    ],
)
def test_an_address_keeps_its_signs(source: str, text: str) -> None:
    """Without them it would be the address of something else."""
    [piece] = pieces(source)

    assert piece.text == text


def test_a_list_that_is_cut_counts_on() -> None:
    shown = pieces("".join(f"1. item {number}\n" for number in range(400)))

    assert len(shown) > 1
    numbers = [int(found) for piece in shown for found in re.findall(r"(\d+)\. item", piece.text)]
    assert numbers == list(range(1, 401))


def test_a_link_that_is_cut_leads_there_from_both_pieces_and_shows_no_address() -> None:
    shown = pieces(f"[{'word ' * 1000}](http://a.example/b)")

    assert [[entity.url for entity in piece.entities] for piece in shown] == [["http://a.example/b"]] * 2
    assert not any("example" in piece.text for piece in shown)


def test_without_formatting_a_piece_of_a_long_reply_shows_where_its_links_lead() -> None:
    first, second = pieces(f"[here](http://a.example/b) and 😀[there](http://a.example/c)\n\n{'x' * 4090}")

    assert first.plain == "here (http://a.example/b) and 😀there (http://a.example/c)"
    assert second.plain == second.text == "x" * 4090


def test_without_formatting_a_piece_without_room_for_addresses_is_its_text() -> None:
    [piece] = pieces(f"[{'x' * 4090}](http://a.example/b)")

    assert piece.plain == piece.text == "x" * 4090


def test_a_row_keeps_the_cells_that_have_no_column() -> None:
    [piece] = pieces("| a | b |\n|---|---|\n| c | d | e |\n")

    assert "d | e" in piece.text


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "./a",
        "a.md",
        "#x",
        "",
        "http://",
        "http://nodot/x",
        "mailto:a@b.c",
        "http://a b.c",
        "http://[x",
    ],
)
def test_an_address_that_telegram_would_refuse_is_no_link(url: str) -> None:
    assert not link_shown(url)


def test_a_style_around_code_is_cut_out_of_it() -> None:
    text = "bold code more"
    raw = [Entity(type="bold", offset=0, length=14), Entity(type="code", offset=5, length=4)]

    assert cleaned(text, raw) == (
        Entity(type="bold", offset=0, length=4),
        Entity(type="code", offset=5, length=4),
        Entity(type="bold", offset=10, length=4),
    )


def test_a_spoiler_that_crosses_hides_all_that_it_hid() -> None:
    text = "abcdefghij"
    raw = [Entity(type="bold", offset=0, length=6), Entity(type="spoiler", offset=3, length=7)]

    after = cleaned(text, raw)

    hidden = {place for e in after if e.type == "spoiler" for place in range(e.offset, e.end)}
    assert hidden == set(range(3, 10))
    _assert_taken(text, after)


def test_an_entity_never_begins_or_ends_inside_a_letter() -> None:
    assert cleaned("😀😀", [Entity(type="bold", offset=1, length=2)]) == (
        Entity(type="bold", offset=0, length=2),
    )


def _assert_taken(text: str, entities: Sequence[Entity]) -> None:
    """The rules of Bot API, MessageEntity: inside the text, not blank, nested, code alone."""
    encoded = text.encode("utf-16-le")
    for entity in entities:
        assert 0 <= entity.offset < entity.end <= units(text)
        assert encoded[entity.offset * 2 : entity.end * 2].decode("utf-16-le").strip()
        assert entity.type != "text_link" or link_shown(entity.url)
    for place, one in enumerate(entities):
        for other in entities[place + 1 :]:
            if one.offset < other.end and other.offset < one.end:
                nested = one.offset <= other.offset and other.end <= one.end
                assert nested or (other.offset <= one.offset and one.end <= other.end)
                kinds = {one.type, other.type}
                assert not (kinds & {"code", "pre"} and kinds & (STYLES | {"text_link"}))
                assert one.type != other.type


@pytest.mark.parametrize("text", ["| a |\n| --- |\n" * 2_000, "x" * 10_000, "😀" * 5_000, "a\n" * 5_000])
def test_a_text_that_is_shown_as_it_is_loses_and_gains_nothing(text):
    pieces = plain_pieces_of(text)

    assert all(0 < units(piece.text) <= TEXT_MAX for piece in pieces)
    assert "".join(piece.text for piece in pieces).replace("\n", "") == text.replace("\n", "")
    assert not any(piece.entities for piece in pieces)
