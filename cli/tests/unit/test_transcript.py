"""What is heard becomes lines: each once, in order, whatever way the stream took."""

from onechat_cli.domain.happening import (
    Acted,
    Commanded,
    Noticed,
    Outside,
    Pictured,
    Replied,
    Said,
    TurnChanged,
    TurnState,
)
from onechat_cli.domain.transcript import Kind


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


def test_help_says_also_what_the_terminal_itself_takes(teller):
    """Nobody finds /image otherwise: the agent service, which answers, has never heard of it."""
    lines = [line.text for line in teller.transcript.answered("/help", "/stop               end")]

    assert lines[0] == "/stop               end"
    assert [line.split()[0] for line in lines[1:]] == ["/image", "/quit"]


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
