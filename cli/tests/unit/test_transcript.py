"""What is heard becomes lines: each once, in order, whatever way the stream took."""

from datetime import UTC, datetime
from itertools import count

import pytest
from onechat_cli.domain.happening import (
    Acted,
    Commanded,
    Event,
    Noticed,
    Outside,
    Pictured,
    Proposed,
    Replied,
    Said,
    TextCame,
    TextVoid,
    TurnChanged,
    TurnState,
)
from onechat_cli.domain.transcript import Kind, Transcript

NOW = datetime(2026, 11, 30, tzinfo=UTC)


class Teller:
    """Folds what a service would tell; `lines` are what came of it."""

    def __init__(self, **about):
        self.transcript = Transcript(root_id="root", **about)
        self.lines = []
        self._numbers = count(1)

    def event(self, body, *, turn="t", agent_id="root", agent="One", number=None):
        number = number or next(self._numbers)
        event = Event(number=number, agent_id=agent_id, agent=agent, turn=turn, time=NOW, body=body)
        return self._take(self.transcript.fold(event))

    def text(self, text, offset=0, *, step=1, turn="t", agent_id="root"):
        came = TextCame(agent_id=agent_id, turn=turn, step=step, offset=offset, text=text)
        return self._take(self.transcript.fold(came))

    def void(self, step=1):
        return self._take(self.transcript.fold(TextVoid(agent_id="root", turn="t", step=step)))

    def _take(self, lines):
        self.lines += lines
        return lines

    def texts(self, kind=Kind.REPLY):
        return [line.text for line in self.lines if line.kind is kind]


@pytest.fixture
def teller():
    return Teller()


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


def test_what_was_typed_here_is_not_printed_again(teller):
    teller.transcript.typed("mine", "hello")

    teller.event(Said(key="mine", text="hello"), turn="")
    teller.event(Said(key="telegram:1:2:3", text="from afar", images=1), turn="")

    assert teller.texts(Kind.USER) == ["from afar", "[1 image]"]


def test_an_event_that_comes_twice_is_shown_once(teller):
    """After a reconnect a stream may overlap with what was shown."""
    teller.event(Noticed(text="hi"), number=7)

    teller.event(Noticed(text="hi"), number=7)

    assert teller.texts(Kind.NOTICE) == ["hi"]


def test_a_message_is_awaited_until_its_turn_is_over(teller):
    teller.transcript.typed("mine", "hello")
    assert teller.transcript.busy

    teller.event(TurnChanged(state=TurnState.BEGUN))
    teller.event(TurnChanged(state=TurnState.STOPPED, answered=("mine",)))

    assert not teller.transcript.busy
    assert teller.texts(Kind.REMARK) == ["stopped"]


def test_a_failed_turn_says_why_once(teller):
    teller.event(TurnChanged(state=TurnState.BEGUN))
    teller.event(Noticed(text="The key is wrong."))

    teller.event(TurnChanged(state=TurnState.FAILED, reason="The key is wrong."))

    assert teller.texts(Kind.NOTICE) == ["The key is wrong."]


def test_a_stopped_turn_keeps_what_it_said(teller):
    teller.event(TurnChanged(state=TurnState.BEGUN))
    teller.text("half an ans")
    teller.event(Acted(call="c", summary="shell: sleep", ended=False))

    teller.event(TurnChanged(state=TurnState.STOPPED))

    assert [line.text for line in teller.lines] == ["half an ans", "shell: sleep", "stopped"]
    assert teller.transcript.calls.at_work == []
    assert not teller.transcript.working


def test_other_agents_answer_under_their_name_and_do_not_stream(teller):
    teller.text("streams", agent_id="house-id")
    teller.event(Replied(text="It is warm."), agent_id="house-id", agent="House")

    assert [line.text for line in teller.lines] == ["[House] It is warm."]


def test_a_batch_is_shown_with_its_source_and_cut_where_it_is_long(teller):
    teller.event(Outside(source="whatsapp:Alice", text="\n".join(map(str, range(20)))), turn="")

    texts = teller.texts(Kind.OUTSIDE)
    assert texts[:2] == ["from whatsapp:Alice", "0"]
    assert texts[-1] == "… 8 more lines"


def test_a_routed_batch_is_shown_with_the_child_that_got_it(teller):
    teller.event(Outside(source="whatsapp:Alice", text="hi"), agent_id="house-id", agent="House")

    assert teller.texts(Kind.OUTSIDE) == ["[House] from whatsapp:Alice", "hi"]


def test_what_agents_say_to_each_other_is_shown_by_their_names(teller):
    """Their ids mean nothing to the user."""
    teller.event(Outside(source="root", text="is it warm?"), agent_id="house-id", agent="House")
    teller.event(Outside(source="house-id", text="[House] It is."))

    assert teller.texts(Kind.OUTSIDE) == ["to House", "is it warm?", "[House] It is."]


def test_a_picture_is_shown_by_its_name(teller):
    teller.event(Pictured(image="ab12.png", caption="the cat"))

    assert [line.text for line in teller.lines] == ["[image ab12.png] the cat"]


ASKED = 'One asks to run shell in /home:\ncommand: "ls"'


def proposed(number, state, outcome=""):
    return Proposed(number=number, text=ASKED, state=state, outcome=outcome)


def test_a_proposal_is_shown_whole_with_how_to_answer_and_how_it_ended(teller):
    teller.event(proposed(3, "open"))
    teller.event(proposed(3, "approved"))
    teller.event(Outside(source="proposal:3", text="[proposal 3] shell: the user said yes"))
    teller.event(proposed(3, "done", "| sent"))
    teller.event(proposed(4, "expired"))
    teller.event(proposed(5, "unknown"))

    assert [line.text for line in teller.lines] == [
        "proposal 3: One asks to run shell in /home:",
        'command: "ls"',
        "/yes 3 lets it run, /no 3 refuses it.",
        "One's proposal 3 is done:",
        "| sent",
        "One's proposal 4 is expired.",
        "One's proposal 5 is interrupted: it is not known whether it ran.",
    ]
    assert {line.kind for line in teller.lines} == {Kind.NOTICE}


def test_the_proposal_that_has_waited_longest_is_the_next_to_be_answered(teller):
    awaiting = teller.transcript.awaiting
    nothing = awaiting.next
    for number in (4, 2, 3):
        teller.event(proposed(number, "open"))
    first = awaiting.next
    teller.event(proposed(2, "refused"))

    assert (nothing, first, awaiting.next, awaiting.count) == (None, 2, 3, 2)


def test_how_an_answered_proposal_ended_is_printed_once_whichever_comes_first(teller):
    """The answer to the command says the same as the event."""
    transcript = teller.transcript
    teller.event(proposed(3, "open"))
    transcript.commanded("/yes 3")
    teller.event(proposed(3, "done", "| sent"))
    after_the_event = transcript.answered("/yes 3", "Proposal 3 was run.")
    transcript.commanded("/yes 4")
    before_it = transcript.answered("/yes 4", "Proposal 4 is being run.")

    assert after_the_event == []
    assert [line.text for line in before_it] == ["Proposal 4 is being run."]


def test_a_refusal_is_printed_once_whichever_comes_first(teller):
    transcript = teller.transcript
    for number in (3, 4):
        teller.event(proposed(number, "open"))
        transcript.commanded(f"/no {number}")

    first = transcript.answered("/no 3", "Proposal 3 was refused."), teller.event(proposed(3, "refused"))
    second = teller.event(proposed(4, "refused")), transcript.answered("/no 4", "Proposal 4 was refused.")
    others = teller.event(proposed(5, "refused"))

    assert [line.text for line in first[0]] == ["Proposal 3 was refused."]
    assert first[1] == []
    assert [line.text for line in second[0]] == ["One's proposal 4 is refused."]
    assert second[1] == []
    assert [line.text for line in others] == ["One's proposal 5 is refused."]


def test_help_says_also_what_the_terminal_itself_takes(teller):
    """Nobody finds /image otherwise: the agent service, which answers, has never heard of it."""
    lines = [line.text for line in teller.transcript.answered("/help", "/stop               end")]

    assert lines[0] == "/stop               end"
    assert [line.split()[0] for line in lines[1:]] == ["/image", "/quit"]


def test_a_proposal_that_is_still_open_is_shown_at_an_opening_and_not_again_by_its_event(teller):
    transcript = teller.transcript
    heard = teller.event(proposed(3, "open"))

    assert transcript.still_open("One", proposed(3, "open"), again=True) == heard
    assert transcript.still_open("One", proposed(3, "open"), again=False) == []
    assert teller.event(proposed(3, "open")) == []


def test_an_own_command_is_shown_once_and_another_clients_too(teller):
    lines = teller.transcript.commanded("/usage") + teller.transcript.answered("/usage", "little")

    again = teller.transcript.fold(Commanded(line="/usage", answer="little"))
    others = teller.transcript.fold(Commanded(line="/usage", answer="much"))

    assert [line.text for line in lines] == ["/usage", "little"]
    assert again == []
    assert [line.text for line in others] == ["/usage", "much"]


def test_another_stream_begins_afresh(teller):
    """A restored store counts its events again."""
    teller.event(Noticed(text="old"), number=90)

    teller.transcript.reopened(same_stream=False)
    teller.event(Noticed(text="new"), number=1)

    assert teller.texts(Kind.NOTICE) == ["old", "new"]


def test_text_of_a_model_reaches_no_line_as_it_is(teller):
    teller.text("\x1b[2J\n\x07")
    teller.event(Acted(call="c", summary="shell: \x1b[1m", ended=True, outcome="\x9b"))
    teller.event(Outside(source="\x1b]0;x", text="\x1b"), turn="")
    teller.event(Replied(text="\x1bc"), turn="u", agent="\x1b", agent_id="other")

    assert not any("\x1b" in line.text or "\x9b" in line.text for line in teller.lines)
    assert "\x07" not in teller.transcript.live


def test_a_line_without_end_is_cut_at_a_space(teller):
    """The screen can only hold so much of what still changes."""
    words = "word " * 1000

    teller.text(words)
    teller.event(Replied(text=words.strip()))

    assert len(teller.texts()) == 3
    assert " ".join(text.strip() for text in teller.texts()) == words.strip()
