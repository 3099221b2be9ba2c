"""Clipping and cleaning of what a tool gives."""

from hypothesis import given
from hypothesis import strategies as st
from onechat_agent.domain.binary import is_binary, kind_of
from onechat_agent.domain.text import OUTPUT_MAX, clean, clip, one_line, plain_line
from onechat_agent.tools.output import KeptOutput


def kept(*pieces: bytes) -> KeptOutput:
    output = KeptOutput()
    for piece in pieces:
        output.add(piece)
    return output


def test_a_text_within_the_limit_stays_as_it_is():
    assert clip("a" * OUTPUT_MAX) == "a" * OUTPUT_MAX


def test_a_longer_text_keeps_head_and_tail_and_says_how_much_is_missing():
    clipped = clip("a" * 20_000 + "b" * 20_000)

    head, note, tail = clipped.split("\n")
    assert len(clipped) <= OUTPUT_MAX
    assert set(head) == {"a"}
    assert set(tail) == {"b"}
    assert note == f"… {40_000 - len(head) - len(tail):,} of 40,000 characters left out …"


@given(st.text(st.characters(), min_size=0).map(lambda t: t + "\ud83c"))
def test_clean_text_can_be_stored_and_sent(text):
    cleaned = clean(text)

    cleaned.encode()
    assert "\0" not in cleaned


def test_halves_of_a_pair_are_joined_and_valid_text_stays():
    assert clean("\ud83c\udf78 é") == "🍸 é"
    assert clean("x\udf78\ud83cy\0") == "x\ufffd\ufffdy\ufffd"


def test_a_line_for_people_is_one_short_line():
    assert one_line("a\n  b\tc") == "a b c"
    assert one_line("a" * 300) == "a" * 199 + "…"


def test_fifty_megabytes_are_held_in_a_fraction_of_it():
    """The output of a runaway command must not fill the service's memory."""
    output = KeptOutput()
    for _ in range(50):
        output.add(b"x" * 1_000_000)

    shown = output.shown(OUTPUT_MAX)

    assert len(output._head) + len(output._tail) <= 240_000
    assert len(shown) <= OUTPUT_MAX
    assert "of 50,000,000 bytes left out" in shown


def test_a_character_that_the_cut_halves_is_left_out():
    output = kept("€".encode() * 100_000)

    assert "\ufffd" not in output.shown(OUTPUT_MAX)


@given(st.binary(max_size=2000), st.integers(1, 50))
def test_no_output_raises_however_it_comes(content, size):
    output = kept(*(content[at : at + size] for at in range(0, len(content), size)))

    assert output.total == len(content)
    assert len(output.shown(1000)) <= 1000


def test_binary_output_is_told_by_size_and_type():
    assert kept(b"\x89PNG\r\n\x1a\n" + bytes(292)).shown(1000) == "(binary output: 300 bytes, a PNG image)"
    assert kept(bytes(range(128, 256)) * 3).shown(1000) == "(binary output: 384 bytes, binary data)"


def test_a_stray_byte_leaves_a_text_a_text():
    """Logs in Latin-1 and the NULs of `find -print0` are worth reading."""
    assert not is_binary("na\u00efve words in Latin-1, mostly plain".encode("latin-1"))
    assert not is_binary(b"./one/file\0./another/file\0")
    assert not is_binary(b"")
    assert kind_of(b"%PDF-1.7") == "a PDF document"


def test_a_plain_line_has_no_sign_that_controls_what_shows_it():
    assert (
        plain_line("the \x1b[2Jboiler\n\u202ednuorg\u202c and\0 \u200fheat")
        == "the [2Jboiler dnuorg and heat"
    )
    assert plain_line("👩\u200d🔧 می\u200cخواهم") == "👩\u200d🔧 می\u200cخواهم"
