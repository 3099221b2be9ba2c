"""Text of others on a terminal: nothing in it may act."""

import json

import pytest
from onechat_cli.domain.safe_text import harmless, harmless_json, harmless_line, one_line, sendable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "␛[31mred"),
        ("\x9b31m", "\N{REPLACEMENT CHARACTER}31m"),
        ("\x1b]52;c;Zm9v\x07", "␛]52;c;Zm9v␇"),
        ("a\x00b\x7fc", "a␀b␡c"),
        ("safe\rgone", "safegone"),
        ("a\r\nb", "a\nb"),
        ("a\tb", "a    b"),
        ("a\u202eb", "a\N{REPLACEMENT CHARACTER}b"),
        ("\ud83d", "\N{REPLACEMENT CHARACTER}"),
        ("a\u2028b", "a\nb"),
        ("grüß 👋🏽 שלום", "grüß 👋🏽 שלום"),
    ],
)
def test_nothing_that_a_terminal_obeys_gets_through(text, shown):
    assert harmless(text) == shown


def test_every_control_character_but_line_ends_becomes_visible():
    controls = "".join(map(chr, [*range(0x20), *range(0x7F, 0xA0)]))

    shown = harmless(controls)

    assert {character for character in shown if ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0} == {
        "\n"
    }


def test_pieces_of_a_stream_give_what_the_whole_gives():
    """Text comes in any pieces; an escape sequence that is cut in two must not come together again."""
    text = "a\x1b[2Jb\r\nc\ud83dd\x9b1m"

    pieces = "".join(harmless(character) for character in text)

    assert pieces == harmless(text)


def test_one_line_joins_and_cuts():
    assert one_line("a\n  b\tc", 80) == "a b c"
    assert one_line("abcdef", 4) == "abc…"


def test_bytes_that_are_no_text_can_be_sent():
    """Python hands them on as lone surrogates, which no call can carry."""
    assert sendable(b"a\xff\xfeb".decode("utf-8", "surrogateescape")) == "a\ufffd\ufffdb"
    assert sendable("grüß 👋🏽") == "grüß 👋🏽"


def test_a_line_stays_one_line_and_whole():
    assert harmless_line("a\u2028b\nc\x1b[2J " + "d" * 500) == "a b c␛[2J " + "d" * 500


def test_json_on_a_terminal_means_the_same_and_obeys_nothing():
    meant = {"text": 'grüß \x1b[2J \x9b31m \x7f \u2028 \u202e \u2066 " \\ 👋🏽'}

    shown = harmless_json(json.dumps(meant, ensure_ascii=False))

    assert json.loads(shown) == meant
    assert "grüß" in shown
    assert not set(shown) & set("\x1b\x9b\x7f\u2028\u202e\u2066\n")
