"""An answer that comes in pieces, with tool calls between, is printed once and in order."""

import pytest
from onechat_cli.domain.happening import Acted, Replied
from onechat_cli.domain.transcript import Kind


def test_a_streamed_answer_is_printed_once(teller):
    """The reply event holds the whole text again."""
    teller.text("Hello\nyou")
    teller.text(" there", 9)

    teller.event(Replied(text="Hello\nyou there"))

    assert teller.texts() == ["Hello", "you there"]
    assert teller.transcript.live == ""


def test_what_has_no_end_yet_stays_live(teller):
    lines = teller.text("one\ntwo")

    assert [line.text for line in lines] == ["one"]
    assert teller.transcript.live == "two"


def test_a_reply_without_a_stream_is_printed_whole(teller):
    teller.event(Replied(text="a\nb"))

    assert teller.texts() == ["a", "b"]


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_reply_is_not_shown(teller, text):
    teller.event(Replied(text=text))

    assert teller.lines == []


def test_a_stream_that_lost_its_end_is_completed_by_the_reply(teller):
    """A slow client loses text as it comes."""
    teller.text("Hel")

    teller.event(Replied(text="Hello\nyou"))

    assert teller.texts() == ["Hello", "you"]


def test_after_a_gap_the_reply_is_printed_whole(teller):
    teller.text("one\n")
    teller.text("three", 8)

    teller.event(Replied(text="one\ntwo\nthree"))

    assert teller.texts() == ["one", "one", "two", "three"]


def test_text_so_far_after_a_reconnect_is_not_printed_again(teller):
    """A new subscriber first gets the text so far."""
    teller.text("one\ntwo\nth")

    teller.text("one\ntwo\nthree\nfo", 0)

    assert teller.texts() == ["one", "two", "three"]
    assert teller.transcript.live == "fo"


def test_a_step_that_starts_again_loses_its_text(teller):
    teller.text("wro")

    teller.void()
    teller.text("right")
    teller.event(Replied(text="right"))

    assert teller.texts() == ["right"]
    assert teller.texts(Kind.REMARK) == []


def test_lines_that_are_printed_and_void_are_called_so(teller):
    teller.text("wrong\nmore")

    teller.void()

    assert teller.texts(Kind.REMARK) == ["the answer starts again"]
    assert teller.transcript.live == ""


def test_the_void_of_another_step_changes_nothing(teller):
    teller.text("good", step=2)

    teller.void(step=1)

    assert teller.transcript.live == "good"


def test_a_tool_call_is_one_line_with_its_outcome(teller):
    teller.event(Acted(call="c", summary="shell: ls", ended=False))
    at_work = teller.transcript.calls.at_work

    teller.event(Acted(call="c", summary="shell: ls", ended=True, outcome="failed"))

    assert at_work == ["shell: ls"]
    assert teller.texts(Kind.ACTIVITY) == ["shell: ls → failed"]
    assert teller.transcript.calls.at_work == []


@pytest.mark.parametrize(("outcome", "after"), [("done", []), ("failed", ["shell: ls → failed"])])
def test_a_call_stands_before_the_text_that_follows_it(teller, outcome, after):
    """The event of its end shares a commit with the next step's, so it comes behind that step's text."""
    teller.event(Acted(call="c", summary="shell: ls", ended=False))
    teller.text("Found\n", step=2)

    teller.event(Acted(call="c", summary="shell: ls", ended=True, outcome=outcome))
    teller.event(Replied(text="Found"))

    assert [line.text for line in teller.lines] == ["shell: ls", "Found", *after]


def test_text_before_a_call_is_final_before_it(teller):
    teller.text("Let me look.")

    teller.event(Acted(call="c", summary="shell: ls", ended=False))
    teller.event(Acted(call="c", summary="shell: ls", ended=True))

    assert [line.text for line in teller.lines] == ["Let me look.", "shell: ls"]


def test_the_next_step_begins_on_its_own_line(teller):
    teller.text("Let me look.")
    teller.text("Found it.", step=2)
    teller.event(Replied(text="Found it."))

    assert teller.texts() == ["Let me look.", "Found it."]


def test_a_line_without_end_is_cut_at_a_space(teller):
    """The screen can only hold so much of what still changes."""
    words = "word " * 1000

    teller.text(words)
    teller.event(Replied(text=words.strip()))

    assert len(teller.texts()) == 3
    assert " ".join(text.strip() for text in teller.texts()) == words.strip()
