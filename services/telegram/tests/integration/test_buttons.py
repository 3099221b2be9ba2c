"""Proposals in the owner's chat: shown with buttons, answered by them, changed to how they ended."""

import asyncio
from typing import Any

import pytest
from onechat_telegram.domain.callbacks import Press, Question, data_of
from onechat_telegram.domain.proposals import NO, YES
from onechat_telegram.domain.wording import NOT_FOR_YOU, REPEAT_MARK

from tests.fakes.bot_api import OWNER
from tests.fakes.telegram_bench import Bench, Running

ASKED = 'One asks to run shell in /home:\ncommand: "echo **bold** [fine](http://x.example) `a`"'
STRANGER = 777


async def shown(running: Running, number: int = 7) -> int:
    """The id of the message that asks for the owner's yes."""
    await running.agent.propose(number, ASKED)
    await running.api.until(lambda: bool(buttons(running)))
    return int(running.api.sent[-1]["message_id"])


def buttons(running: Running) -> list[str]:
    """What stands on the newest message's buttons."""
    markup = running.api.sent[-1].get("reply_markup", {}) if running.api.sent else {}
    return [button["text"] for row in markup.get("inline_keyboard", []) for button in row]


def told(running: Running, query: str) -> str:
    """What whoever pressed was told."""
    return str(running.api.callbacks.answers[query]["text"])


async def answered(running: Running, query: str) -> str:
    await running.api.until(lambda: query in running.api.callbacks.answers)
    return told(running, query)


async def handed_over(running: Running) -> None:
    """Return once nothing waits in the inbox, not even for another try."""
    async with asyncio.timeout(30):
        while running.gateway.outbox.waiting():
            await asyncio.sleep(0.005)


async def test_a_proposal_is_shown_letter_by_letter_with_buttons(running: Running) -> None:
    """As Markdown a part of what would run could be hidden, in a link or between stars."""
    await shown(running)

    [message] = running.api.sent
    assert message["text"] == f"Proposal 7: {ASKED}\n\n/yes 7 lets it run, /no 7 refuses it."
    assert "entities" not in message
    assert buttons(running) == [YES, NO]


@pytest.mark.parametrize(
    ("button", "yes", "end", "said"),
    [(YES, True, "One's proposal 7 is done.", "Proposal 7 was run."), (NO, False, "refused", "refused")],
)
async def test_a_press_answers_the_proposal_and_its_message_says_how_it_ended(
    running: Running, button: str, yes: bool, end: str, said: str
) -> None:
    message = await shown(running)

    query = running.api.callbacks.press(message, button)
    await running.api.until(lambda: bool(running.api.edits))

    assert said in await answered(running, query)
    assert list(running.agent.answers.values()) == [yes]
    [after] = running.api.sent
    assert after["text"].startswith(f"Proposal 7: {ASKED}\n\n")
    assert end in after["text"]
    assert "/yes 7" not in after["text"]
    assert buttons(running) == []


@pytest.mark.parametrize("state", ["REFUSED", "EXPIRED", "DONE", "UNKNOWN", "APPROVED"])
async def test_an_answer_from_elsewhere_changes_the_message_too(running: Running, state: str) -> None:
    """In the terminal, by time, or by /yes: a button that is left would ask for what is over."""
    await shown(running)

    await running.agent.decide(7, state, "| so it went")
    await running.api.until(lambda: bool(running.api.edits))

    assert len(running.api.sent) == 1
    assert running.api.texts()[0].endswith("| so it went")
    assert buttons(running) == []


async def test_a_yes_shows_that_it_runs_and_then_how_it_went(running: Running) -> None:
    await shown(running)

    await running.agent.decide(7, "APPROVED")
    await running.agent.decide(7, "DONE", "| a.txt")
    await running.api.until(lambda: len(running.api.edits) == 2)

    assert [edit["text"].rpartition("\n\n")[2] for edit in running.api.edits] == [
        "One's proposal 7 has your yes and is being run.",
        "One's proposal 7 is done.\n| a.txt",
    ]


async def test_a_question_that_the_owner_has_deleted_has_its_end_said_anew(running: Running) -> None:
    message = await shown(running)
    del running.api.messages[OWNER, message]

    await running.agent.decide(7, "DONE", "| a.txt")
    await running.api.until(lambda: len(running.api.sent) == 2)

    assert running.api.texts()[-1].endswith("One's proposal 7 is done.\n| a.txt")


async def test_an_end_that_may_have_been_shown_is_shown_again_without_a_mark(bench: Bench) -> None:
    """To say the same again in the same message leaves no trace."""
    bench.api.chats.add(OWNER)
    async with bench.running() as running, bench.time_flies():
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        await shown(running)
        bench.api.fail("editMessageText", how="drop", times=2)
        bench.api.fail("editMessageText", how="lose")
        await bench.agent.decide(7, "DONE")
        await bench.agent.reply("next")
        await bench.api.until(lambda: bench.api.texts()[-1:] == ["next"])

        assert len(bench.api.sent) == 2
        assert REPEAT_MARK not in bench.api.texts()[0]
        assert bench.api.calls["editMessageText"] == 4


async def test_a_press_of_somebody_else_reaches_nothing(running: Running) -> None:
    """A client of somebody's own making can send any button's data."""
    message = await shown(running)
    data = data_of(Press(question=Question(stream="stream-1", number=7), yes=True))

    query = running.api.callbacks.ask(data, running.api.messages[OWNER, message], user=STRANGER)

    assert await answered(running, query) == NOT_FOR_YOU
    assert running.agent.calls["AnswerProposal"] == 0


async def test_the_owners_press_in_a_group_reaches_nothing(running: Running) -> None:
    """Answers are taken only from the terminal and the owner's private chat."""
    message = await shown(running)
    elsewhere: dict[str, Any] = running.api.messages[OWNER, message] | {
        "chat": {"id": -100123, "type": "supergroup", "title": "Home"}
    }
    data = data_of(Press(question=Question(stream="stream-1", number=7), yes=True))

    query = running.api.callbacks.ask(data, elsewhere)

    assert await answered(running, query) == NOT_FOR_YOU
    assert running.agent.calls["AnswerProposal"] == 0


async def test_a_button_of_another_store_of_the_agent_says_yes_to_nothing(running: Running) -> None:
    """A restored store gives the number once more, to another proposal."""
    message = await shown(running)
    data = data_of(Press(question=Question(stream="stream-0", number=7), yes=True))

    query = running.api.callbacks.ask(data, running.api.messages[OWNER, message])

    assert "does nothing" in await answered(running, query)
    await running.api.until(lambda: buttons(running) == [])
    assert running.agent.calls["AnswerProposal"] == 0


async def test_buttons_that_cannot_be_taken_away_are_left(running: Running) -> None:
    message = await shown(running)
    running.api.fail("editMessageReplyMarkup", code=400, description="Bad Request: message can't be edited")

    query = running.api.callbacks.ask("anything else", running.api.messages[OWNER, message])

    assert "does nothing" in await answered(running, query)
    await handed_over(running)
    assert running.api.calls["editMessageReplyMarkup"] == 1


async def test_a_button_without_a_proposal_or_with_an_unknown_one_says_so(running: Running) -> None:
    message = await shown(running)
    unknown = data_of(Press(question=Question(stream="stream-1", number=8), yes=True))

    queries = [
        running.api.callbacks.ask(data, running.api.messages[OWNER, message])
        for data in ("anything else", unknown)
    ]

    for query in queries:
        assert "does nothing" in await answered(running, query)


async def test_a_press_while_the_agent_is_away_is_handed_over_later_once(bench: Bench) -> None:
    """Telegram does not wait so long; the owner sees how it ended in the message."""
    bench.api.chats.add(OWNER)
    async with bench.running() as running, bench.time_flies():
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        message = await shown(running)
        bench.agent.fail("AnswerProposal", times=2)
        bench.agent.fail("AnswerProposal", when="after")
        bench.api.callbacks.press(message, YES)
        await bench.agent.until(lambda: bench.agent.calls["AnswerProposal"] >= 2)
        bench.api.callbacks.expire()
        await bench.api.until(lambda: bool(bench.api.edits))
        await handed_over(running)

        assert bench.api.calls["answerCallbackQuery"] == 1
        assert list(bench.agent.answers.values()) == [True]
        assert "is done" in bench.api.texts()[0]


async def test_two_presses_give_one_answer(running: Running) -> None:
    message = await shown(running)
    data = running.api.sent[0]["reply_markup"]["inline_keyboard"][0]
    asking = dict(running.api.messages[OWNER, message])

    first = running.api.callbacks.ask(data[0]["callback_data"], asking)
    second = running.api.callbacks.ask(data[1]["callback_data"], asking)
    texts = [await answered(running, query) for query in (first, second)]

    assert texts == ["Proposal 7 was run."] * 2


async def test_another_bots_question_is_not_taken_for_one_of_this_one(bench: Bench) -> None:
    """Message ids are each bot's own: under another token the same id is another message."""
    bench.api.chats.add(OWNER)
    async with bench.running() as running:
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        await shown(running)
    bench.api.token = "8100200301:AAanother-token_of_the_stand-in"

    async with bench.running():
        await bench.agent.until(lambda: len(bench.agent.subscribed) == 2)
        await bench.agent.decide(7, "REFUSED")
        await bench.api.until(lambda: len(bench.api.sent) == 2)

    assert bench.api.edits == []
    assert "is refused" in bench.api.texts()[-1]


async def test_an_end_that_was_being_shown_when_the_service_was_killed_is_shown(bench: Bench) -> None:
    bench.api.chats.add(OWNER)
    async with bench.running() as running:
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        await shown(running)
        held = bench.api.fail("editMessageText", how="hold")
        await bench.agent.decide(7, "DONE")
        await bench.api.until(lambda: bench.api.calls["editMessageText"] == 1)
        bench.copy_as_if_killed()
        asyncio.get_running_loop().call_later(0.05, held.released.set)

    async with bench.running():
        await bench.api.until(lambda: bench.api.calls["editMessageText"] == 2)

    assert len(bench.api.sent) == 1
    assert "is done" in bench.api.texts()[0]
    assert REPEAT_MARK not in bench.api.texts()[0]


async def test_a_copy_that_may_have_been_sent_has_no_buttons_once_one_was_pressed(running: Running) -> None:
    """Nobody knows its id until then: it stands above its marked repeat."""
    running.api.fail("sendMessage", how="lose")
    await running.agent.propose(7, ASKED)
    await running.api.until(lambda: len(running.api.sent) == 2)
    copy = running.api.sent[0]["message_id"]

    query = running.api.callbacks.press(copy, YES)
    await running.api.until(lambda: len(running.api.edits) == 2)

    assert await answered(running, query) == "Proposal 7 was run."
    assert "reply_markup" not in running.api.messages[OWNER, copy]
    assert REPEAT_MARK not in running.api.texts()[0]
    assert "is done" in running.api.texts()[1]
