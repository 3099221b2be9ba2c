"""What awaits the user's yes is shown with how to answer it, and how it ended, once."""

from onechat_cli.domain.happening import Outside, Proposed
from onechat_cli.domain.transcript import Kind

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


def test_a_proposal_that_is_still_open_is_shown_at_an_opening_and_not_again_by_its_event(teller):
    transcript = teller.transcript
    heard = teller.event(proposed(3, "open"))

    assert transcript.still_open("One", proposed(3, "open"), again=True) == heard
    assert transcript.still_open("One", proposed(3, "open"), again=False) == []
    assert teller.event(proposed(3, "open")) == []
