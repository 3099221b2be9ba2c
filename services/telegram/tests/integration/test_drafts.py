"""The text of a long turn as it comes, in one message that changes; off unless the owner turned it on."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from onechat_telegram.adapters import draft_store
from onechat_telegram.domain.ids import BotId
from onechat_telegram.domain.pieces import TEXT_MAX
from onechat_telegram.domain.utf16 import units
from onechat_telegram.drafts import EVERY_S, LONG_S, MORE, shown_of

from tests.fakes.bot_api import OWNER
from tests.fakes.telegram_bench import Bench, Running


@pytest.fixture
async def drafting(bench: Bench) -> AsyncIterator[Running]:
    """A gateway that shows drafts, with a turn that has been at work for long."""
    async with bench.running(show_drafts=True) as gateway:
        bench.api.chats.add(OWNER)
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        await bench.agent.begin_turn()
        await bench.api.until(lambda: bool(bench.api.actions))
        bench.clock.advance(LONG_S)
        yield gateway


async def comes(bench: Bench, text: str, shown: str) -> None:
    """Text comes, and is shown once its second is over."""
    await bench.agent.text_comes(text)
    await until_shown(bench, shown)


async def until_asleep(bench: Bench, seconds: float) -> None:
    """Somebody sleeps so long."""
    async with asyncio.timeout(30):
        while seconds not in bench.clock.sleepers:
            await asyncio.sleep(0)


async def all_heard(bench: Bench) -> None:
    """What the agent has said until now has reached the gateway: a notice after it is in the chat."""
    heard = len(bench.api.texts())
    await bench.agent.notice(f"notice {heard}")
    await bench.api.until(lambda: len(bench.api.texts()) > heard)


async def until_shown(bench: Bench, shown: str) -> None:
    async with bench.time_flies():
        await bench.api.until(lambda: bench.api.texts()[-1:] == [shown])


async def test_nothing_is_drafted_unless_it_was_turned_on(running: Running, bench: Bench) -> None:
    await running.agent.begin_turn()
    await running.api.until(lambda: bool(running.api.actions))
    bench.clock.advance(LONG_S)
    await running.agent.text_comes("some")
    await running.agent.reply("some text")
    await running.api.until(lambda: bool(running.api.sent))

    assert running.api.texts() == ["some text"]
    assert running.api.calls["editMessageText"] == 0


async def test_a_text_comes_in_one_message_that_changes_and_gives_way_to_the_reply(
    drafting: Running, bench: Bench
) -> None:
    await comes(bench, "It is", f"It is{MORE}")
    draft = drafting.api.sent[0]["message_id"]
    await bench.agent.text_comes(" four", offset=5)
    await until_shown(bench, f"It is four{MORE}")
    await bench.agent.reply("It is **four**.", turn="turn")
    await bench.agent.end_turn()
    async with bench.time_flies():
        await drafting.api.until(lambda: bool(drafting.api.deleted))
        await drafting.api.until(lambda: drafting.api.texts() == ["It is four."])

    assert drafting.api.deleted == [(OWNER, draft)]
    assert drafting.api.calls["editMessageText"] == 1


async def test_a_draft_changes_at_most_once_a_second(drafting: Running, bench: Bench) -> None:
    await bench.agent.text_comes("a")
    await until_asleep(bench, EVERY_S)
    for count in range(1, 20):
        await bench.agent.text_comes("a", offset=count)
    await all_heard(bench)
    changes = drafting.api.calls["editMessageText"]
    bench.clock.advance(EVERY_S)
    await drafting.api.until(lambda: drafting.api.texts()[0] == "a" * 20 + MORE)

    assert (changes, drafting.api.calls["editMessageText"]) == (0, 1)


async def test_a_short_turn_has_no_draft(bench: Bench) -> None:
    async with bench.running(show_drafts=True):
        bench.api.chats.add(OWNER)
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        await bench.agent.begin_turn()
        await bench.agent.text_comes("four")
        await bench.clock.until_sleeping()
        await bench.agent.reply("four", turn="turn")
        await bench.agent.end_turn()
        await bench.agent.reply("next")
        await bench.api.until(lambda: len(bench.api.sent) == 2)
        async with bench.time_flies():
            await bench.agent.reply("later")
            await bench.api.until(lambda: len(bench.api.sent) == 3)

    assert bench.api.texts() == ["four", "next", "later"]
    assert bench.api.deleted == []


async def test_a_step_that_begins_again_shows_its_new_text(drafting: Running, bench: Bench) -> None:
    await comes(bench, "wrong", f"wrong{MORE}")
    await bench.agent.text_is_void()
    await comes(bench, "right", f"right{MORE}")

    assert len(drafting.api.sent) == 1


async def test_a_draft_that_telegram_refuses_disturbs_nothing(drafting: Running, bench: Bench) -> None:
    drafting.api.fail("sendMessage", code=400)

    await bench.agent.text_comes("It is")
    async with bench.time_flies():
        await drafting.api.until(lambda: drafting.api.calls["sendMessage"] == 1)
        await bench.agent.text_comes(" four", offset=5)
        await bench.agent.reply("It is four.", turn="turn")
        await bench.agent.end_turn()
        await drafting.api.until(lambda: bool(drafting.api.sent))

    assert drafting.api.texts() == ["It is four."]


async def test_a_draft_that_the_owner_has_deleted_does_not_come_again(
    drafting: Running, bench: Bench
) -> None:
    await comes(bench, "It is", f"It is{MORE}")
    del drafting.api.messages[OWNER, drafting.api.sent[0]["message_id"]]

    async with bench.time_flies():
        for offset, word in enumerate([" four", ",", " or", " five"], 5):
            await bench.agent.text_comes(word, offset=offset)
            await all_heard(bench)
        await drafting.api.until(lambda: drafting.api.calls["editMessageText"] > 0)
        await bench.agent.reply("It is four.", turn="turn")
        await bench.agent.end_turn()
        await drafting.api.until(lambda: drafting.api.texts()[-1:] == ["It is four."])

    assert drafting.api.calls["editMessageText"] == 1


async def test_a_change_of_a_draft_without_an_answer_is_made_again(drafting: Running, bench: Bench) -> None:
    """To say the same again leaves no trace, so the draft goes on."""
    await comes(bench, "It is", f"It is{MORE}")
    drafting.api.fail("editMessageText", how="drop")
    await bench.agent.text_comes(" four", offset=5)

    await until_shown(bench, f"It is four{MORE}")

    assert drafting.api.calls["editMessageText"] == 2
    assert len(drafting.api.sent) == 1


async def test_a_draft_that_was_perhaps_sent_is_not_sent_again(drafting: Running, bench: Bench) -> None:
    drafting.api.fail("sendMessage", how="lose")
    await bench.agent.text_comes("It is")
    async with bench.time_flies():
        await drafting.api.until(lambda: drafting.api.calls["sendMessage"] == 1)
        await bench.agent.text_comes(" four", offset=5)
        await bench.agent.reply("It is four.", turn="turn")
        await bench.agent.end_turn()
        await drafting.api.until(lambda: drafting.api.texts()[-1:] == ["It is four."])

    assert drafting.api.texts() == [f"It is{MORE}", "It is four."]


async def test_a_draft_that_comes_when_its_turn_is_over_is_deleted(drafting: Running, bench: Bench) -> None:
    held = drafting.api.fail("sendMessage", how="hold")
    await bench.agent.text_comes("It is")
    await drafting.api.until(lambda: drafting.api.calls["sendMessage"] == 1)
    await bench.agent.reply("It is four.", turn="turn")
    await bench.agent.end_turn()
    await bench.agent.reply("next")
    await drafting.api.until(lambda: len(drafting.api.sent) == 2)
    held.released.set()

    async with bench.time_flies():
        await drafting.api.until(lambda: bool(drafting.api.deleted))

    assert drafting.api.texts() == ["It is four.", "next"]


async def test_what_is_shown_already_is_not_said_again(drafting: Running, bench: Bench) -> None:
    await comes(bench, "It is", f"It is{MORE}")
    await bench.agent.text_is_void()
    await bench.agent.text_comes("It is")
    await all_heard(bench)
    bench.clock.advance(EVERY_S)
    await all_heard(bench)

    assert drafting.api.calls["editMessageText"] == 0


async def test_of_a_step_whose_beginning_was_missed_nothing_of_another_is_shown(
    drafting: Running, bench: Bench
) -> None:
    await comes(bench, "It is", f"It is{MORE}")
    await bench.agent.text_comes("four", step=2, offset=2)

    await until_shown(bench, f"four{MORE}")


async def test_a_draft_that_is_gone_already_holds_up_no_other(drafting: Running, bench: Bench) -> None:
    await comes(bench, "It is", f"It is{MORE}")
    del drafting.api.messages[OWNER, drafting.api.sent[0]["message_id"]]
    await bench.agent.end_turn()
    await bench.agent.begin_turn("next")

    await bench.agent.text_comes("Here", turn="next")
    await until_shown(bench, f"Here{MORE}")

    assert drafting.api.calls["deleteMessage"] == 1


async def test_429_on_a_draft_waits_as_long_as_telegram_says(drafting: Running, bench: Bench) -> None:
    await bench.agent.text_comes("It is")
    await until_asleep(bench, EVERY_S)
    drafting.api.fail("editMessageText", code=429, retry_after=40)
    await bench.agent.text_comes(" four", offset=5)
    await all_heard(bench)
    bench.clock.advance(EVERY_S)
    await until_asleep(bench, 40)

    bench.clock.advance(39)
    await all_heard(bench)
    assert drafting.api.calls["editMessageText"] == 1
    bench.clock.advance(1)
    await drafting.api.until(lambda: drafting.api.texts()[0] == f"It is four{MORE}")


async def test_what_a_killed_gateway_was_drafting_is_deleted_by_the_next(bench: Bench) -> None:
    bench.api.chats.add(OWNER)
    async with bench.running(show_drafts=True) as killed:
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        await bench.agent.begin_turn()
        await bench.api.until(lambda: bool(bench.api.actions))
        bench.clock.advance(LONG_S)
        await bench.agent.text_comes("It is")
        await until_asleep(bench, EVERY_S)
        [(_, draft)] = killed.store.read(lambda db: draft_store.all_of(db, BotId(bench.api.bot_id)))

    async with bench.running():
        await bench.api.until(lambda: bool(bench.api.deleted))

    assert bench.api.deleted == [(OWNER, draft)]
    assert bench.api.texts() == []


def test_of_a_long_text_a_draft_shows_the_end() -> None:
    shown = shown_of("😀" * 3_000 + "end ")

    assert units(shown) <= TEXT_MAX
    assert shown.startswith("…\n😀")
    assert shown.endswith(f"end{MORE}")


@pytest.mark.parametrize("text", ["", " \n", "\u200b"])
def test_a_text_in_which_nothing_can_be_seen_is_no_draft(text: str) -> None:
    assert shown_of(text) == ""
