"""Nobody says yes to what they could not see: what would not show stands as its code point."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from onechat_agent.domain.visible import CHARACTERS_MAX, LINES_MAX, Shortened, shortened, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("rm -rf ~", "rm -rf ~"),
        ("Größe, 漢字, שלום, ❤️, 👍", "Größe, 漢字, שלום, ❤️, 👍"),
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("a\u2066b\u2069", "a⟨U+2066⟩b⟨U+2069⟩"),
        ("a\u200bb\ufeff", "a⟨U+200B⟩b⟨U+FEFF⟩"),
        ("a\rb\x1b[2Kc\x07", "a⟨U+000D⟩b⟨U+001B⟩[2Kc⟨U+0007⟩"),
        ("a\tb", "a⟨tab⟩b"),
        ("a\u00a0b\u3000c", "a⟨U+00A0⟩b⟨U+3000⟩c"),
        ("a\u2028b\x85c\x0bd", "a⟨U+2028⟩b⟨U+0085⟩c⟨U+000B⟩d"),
        ("\u3164\u2800\u115f", "⟨U+3164⟩⟨U+2800⟩⟨U+115F⟩"),
        ("a\ufe0fb\U000e0041\U000e0100", "a⟨U+FE0F⟩b⟨U+E0041⟩⟨U+E0100⟩"),
        ("⟨U+202E⟩", "⟨U+27E8⟩U+202E⟩"),
        ("e\u0301", "e\u0301"),
        ("Z" + "\u0335" * 6, "Z" + "\u0335" * 4 + "⟨U+0335⟩⟨U+0335⟩"),
    ],
)
def test_what_would_not_show_is_named(text, shown):
    assert visible(text) == shown


@given(st.text())
def test_nothing_that_is_shown_is_hidden_and_two_texts_never_look_the_same(text):
    shown = visible(text)

    assert all(letter == " " or unicodedata.category(letter)[0] not in "CZ" for letter in shown)
    assert _unnamed(shown) == text


def _unnamed(shown):
    """The text that `visible` was given."""
    out, rest = [], shown
    while rest:
        if rest[0] == "⟨":
            name, _, rest = rest[1:].partition("⟩")
            out.append("\t" if name == "tab" else chr(int(name[2:], 16)))
        else:
            out.append(rest[0])
            rest = rest[1:]
    return "".join(out)


def test_a_text_that_can_be_read_at_once_is_whole():
    text = "x" * CHARACTERS_MAX

    assert shortened(text) == Shortened(head=text)
    assert shortened("\n" * (LINES_MAX - 1)) == Shortened(head="\n" * (LINES_MAX - 1))


@given(st.text(alphabet="a\n", min_size=1, max_size=200).map(lambda text: text * 60))
def test_a_long_text_keeps_its_ends_and_says_how_much_is_missing(text):
    parts = shortened(text)

    assert text.startswith(parts.head)
    assert text.endswith(parts.tail)
    assert len(parts.head) + parts.left_out + len(parts.tail) == len(text)
    assert len(parts.head) + len(parts.tail) <= CHARACTERS_MAX
    assert parts.head.count("\n") + parts.tail.count("\n") < LINES_MAX
    assert (parts.left_out > 0) == (len(text) > CHARACTERS_MAX or text.count("\n") >= LINES_MAX)
