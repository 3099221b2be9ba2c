"""What texts are found by: folding, words, pairs of signs."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from onechat_memory.domain.words import WORD_MAX, Wanted, folded, wanted, words_in

SIGNS = "的一是不了人世界你好かガーไทยກາខ្မ👍🇮🇹"


def is_found(asked: str, text: str) -> bool:
    """Whether `text` holds all that `asked` wants, as the index would have it."""
    want, words = wanted(asked), words_in(text)
    return (
        bool(want)
        and set(want.words) <= set(words)
        and all(any(word.startswith(start) for word in words) for start in want.beginnings)
        and all(
            any(tuple(words[place : place + len(run)]) == run for place in range(len(words)))
            for run in want.runs
        )
    )


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("aoss", "ÄÖß"),
        ("STRASSE", "die Straße"),
        ("uber", "u\u0308ber"),
        ("istanbul", "İSTANBUL"),
        ("İstanbul", "istanbul"),
        ("ISPARTA", "ısparta"),
        ("οδος", "Ο ΔΡΟΜΟΣ, Η ΟΔΌΣ"),
        ("ΟΔΟΣ", "οδός"),
        ("елка", "ЁЛКА"),
        ("Киев", "КИЕВ"),
        ("lodz", "Łódź"),
        ("smorrebrod", "smørrebrød"),
        ("محمد", "مُحَمَّد"),
        ("שלום", "שָׁלוֹם"),
        ("file", "ﬁle"),
        ("cooperate", "co\u00adoperate"),
        ("2026", "２０２６ or ٢٠٢٦"),
        ("한국어", "한국어 공부"),
        ("हिन्दी", "हिन्दी में"),
        ("ガ", "ｶﾞ"),
        ("👍", "well 👍🏽!"),
        ("👧", "👨‍👩‍👧"),
        ("🇮🇹", "from 🇮🇹"),
        ("ภาษา", "เรียนภาษาไทย"),
        ("ខ្មែរ", "ភាសាខ្មែរ"),
        ("မြန်", "မြန်မာ"),
        ("ພາສາ", "ພາສາລາວ"),
        ("mario.rossi@example.it", "to Mario.Rossi@Example.IT"),
        ("/home/me/a_b.txt", "see /home/me/a_b.txt:12"),
        ("手机", "iPhone手机"),
        ("iphone", "iPhone手机"),
        ("e-mail*", "two E-Mails"),
    ],
)
def test_words_are_found_however_they_are_written(asked: str, text: str) -> None:
    assert is_found(asked, text)


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("car", "cart"),
        ("art*", "cart"),
        ("か", "が"),
        ("कि", "क"),
        ("世你", "世界你"),
        ("世界你", "世界 界你"),
        ("界你", "世界，你好"),
        ("👩👧", "👩 👧"),
        ("🇹🇮", "🇮🇹"),
        ("both here", "both"),
    ],
)
def test_what_only_looks_alike_is_not_found(asked: str, text: str) -> None:
    assert not is_found(asked, text)


@pytest.mark.parametrize("nothing", ["", " ", "*", "** *", '"(-:^)"', "\x00\x07", "\u0301\ufe0f", "。、"])
def test_nothing_to_search_for_is_known(nothing: str) -> None:
    assert not wanted(nothing)
    assert words_in(nothing) == []


def test_what_is_asked_for_is_taken_apart() -> None:
    assert wanted("Wor* in* w* hello 世界你 好 好*") == Wanted(
        words=("in*", "w*", "hello", "好*"), beginnings=("wor",), runs=(("世界", "界你"),)
    )


def test_a_text_has_its_pairs_in_order_and_all_else_once() -> None:
    words = words_in("ab AB 世界你 a")

    assert words == ["世界", "界你", "你", "ab", "a", "a*", "世*", "你*", "界*", "ab*"]


def test_of_a_very_long_word_the_first_letters_count() -> None:
    """So that a megabyte of base64 neither fills the index nor is lost to it."""
    word = "x" * 30_000

    assert max(map(len, words_in(word))) == WORD_MAX
    assert is_found(word, word)
    assert is_found(word + "*", word)
    assert not is_found("x" * (WORD_MAX - 1), word)


@given(st.text(), st.text())
@example("ᾳ", "İ")
def test_every_word_of_a_text_finds_it(before: str, after: str) -> None:
    text = f"{before} {after}"

    for word in text.split():
        assert is_found(word, text) or not wanted(word)


@given(st.text(st.sampled_from("abcABCÀé_1*. "), max_size=30), st.integers(1, 5))
def test_every_beginning_of_a_word_finds_it(text: str, length: int) -> None:
    for word in text.replace("*", " ").split():
        assert is_found(word[:length] + "*", text) or not wanted(word[:length])


@given(
    st.text(st.sampled_from(SIGNS + " ,a"), max_size=40),
    st.text(st.sampled_from(SIGNS), min_size=1, max_size=4),
)
def test_a_run_of_signs_is_found_exactly_where_it_stands(text: str, run: str) -> None:
    assert is_found(run, text) == (folded(run) in folded(text))


@given(st.text())
def test_no_word_holds_what_the_index_could_misread(text: str) -> None:
    for word in words_in(text):
        letters = word.removesuffix("*")
        assert letters
        assert not set(letters) & set("\"'*_+-^:(){}, \x00")
