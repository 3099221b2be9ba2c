"""What a chat that is opened again shows of what it had shown before."""

from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from onechat_cli.domain.earlier import EXCHANGES, MESSAGES_MAX, ROW, ROWS_MAX, last_exchanges
from onechat_cli.domain.happening import Acted, Event, Noticed, Outside, Replied, Said, TurnChanged, TurnState
from onechat_cli.domain.transcript import Kind, Transcript

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)


@pytest.fixture
def earlier():
    """The texts that are shown of `bodies`, as one after the other was told."""
    numbers = count(1)
    transcript = Transcript(root_id="root")

    def showing(*bodies):
        told = []
        for body, number in zip(bodies, numbers, strict=False):
            time = NOW + timedelta(minutes=number)
            event = Event(number=number, agent_id="root", agent="One", turn="t", time=time, body=body)
            told.append((event, transcript.fold(event)))
        return last_exchanges(told)

    return showing


def texts(shown):
    return [line.text for line in shown.lines]


def said(text):
    return Said(key=text, text=text)


def exchange(number):
    return said(f"question {number}"), Replied(text=f"answer {number}")


def test_the_last_exchanges_are_shown_whole_and_dimmed(earlier):
    shown = earlier(*(body for number in range(6) for body in exchange(number)))

    assert EXCHANGES == 3
    assert texts(shown) == [
        *("question 3", "answer 3", "question 4", "answer 4", "question 5", "answer 5"),
    ]
    assert all(line.earlier for line in shown.lines)
    assert shown.since == NOW + timedelta(minutes=7)


def test_what_is_said_in_one_go_begins_one_exchange(earlier):
    """Three messages that one answer answers are no three exchanges."""
    shown = earlier(
        *exchange(0), *exchange(1), said("a"), said("b"), said("c"), Replied(text="all"), *exchange(2)
    )

    assert texts(shown) == [
        *("question 1", "answer 1", "a", "b", "c", "all", "question 2", "answer 2"),
    ]


def test_batches_and_notices_are_shown_and_tool_activity_is_not(earlier):
    shown = earlier(
        Outside(source="whatsapp:Alice", text="hi"),
        TurnChanged(state=TurnState.BEGUN),
        Acted(call="a", summary="shell: ls", ended=False),
        Acted(call="a", summary="shell: ls", ended=True, outcome="failed"),
        Acted(call="b", summary="shell: pwd", ended=False),
        Replied(text="Alice greets."),
        TurnChanged(state=TurnState.ENDED),
        Noticed(text="The day's limit is near."),
    )

    assert texts(shown) == ["from whatsapp:Alice", "hi", "Alice greets.", "The day's limit is near."]


def test_a_stopped_turn_says_so(earlier):
    shown = earlier(said("work"), TurnChanged(state=TurnState.STOPPED))

    assert texts(shown) == ["work", "stopped"]


def test_nothing_but_activity_shows_nothing(earlier):
    shown = earlier(
        TurnChanged(state=TurnState.BEGUN), Acted(call="a", summary="x", ended=True, outcome="failed")
    )

    assert shown.lines == ()


def test_a_message_of_many_lines_is_cut(earlier):
    shown = earlier(said("\n".join(map(str, range(100)))), Replied(text="yes"))

    assert texts(shown) == [*map(str, range(ROWS_MAX)), "…", "yes"]


def test_a_message_of_as_many_lines_as_are_shown_is_whole(earlier):
    shown = earlier(said("\n".join(map(str, range(ROWS_MAX)))))

    assert texts(shown) == [*map(str, range(ROWS_MAX))]


def test_a_long_line_counts_as_the_rows_that_it_takes(earlier):
    """A reply without line ends must not fill the screen either."""
    shown = earlier(Replied(text=f"short\n{'word ' * 1_000}\nnever"))

    first, cut = texts(shown)
    assert first == "short"
    assert cut.endswith("word …")
    assert len(cut) <= (ROWS_MAX - 1) * ROW + 2


def test_many_notices_in_one_exchange_are_not_all_shown(earlier):
    shown = earlier(*exchange(0), *(Noticed(text=f"n{number}") for number in range(50)))

    assert texts(shown) == [f"n{number}" for number in range(50 - MESSAGES_MAX, 50)]
    assert all(line.kind is Kind.NOTICE for line in shown.lines)
