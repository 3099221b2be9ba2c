"""What the agent says reaches the owner's chat: each piece once, in order, whatever Telegram answers."""

import asyncio
import sys
import threading
from datetime import UTC, datetime
from types import FrameType

import pytest
from onechat.agent.v1 import event_pb2
from onechat_telegram.adapters import piece_store
from onechat_telegram.adapters.markdown import render
from onechat_telegram.domain.utf16 import units
from onechat_telegram.domain.wording import ANOTHER_STORE, MISSED

from tests.fakes.bot_api import OWNER
from tests.fakes.telegram_bench import Bench, Running

START = datetime(2026, 1, 1, tzinfo=UTC)
THREE_PIECES = "\n\n".join(letter * 4000 for letter in "abc")


async def test_a_reply_is_shown_with_its_formatting(running: Running) -> None:
    await running.agent.reply("This is **bold** and `code`.")

    await running.api.until(lambda: bool(running.api.sent))

    [message] = running.api.sent
    assert message["text"] == "This is bold and code."
    assert [entity["type"] for entity in message["entities"]] == ["bold", "code"]


async def test_a_message_that_was_taken_shows_that_the_link_works(running: Running, bench: Bench) -> None:
    """A poll may wait for a minute meanwhile."""
    await running.api.until(lambda: running.api.calls["getUpdates"] > 0)
    bench.clock.advance(5)

    await running.agent.reply("hello")
    async with asyncio.timeout(30):
        while running.link.last_answer != bench.clock.now():
            await asyncio.sleep(0.005)

    assert running.api.calls["getUpdates"] == 1


async def test_notices_are_shown_and_empty_replies_are_not(running: Running) -> None:
    await running.agent.reply("")
    await running.agent.reply(" \n")
    await running.agent.notice("The model could not be reached.")

    await running.api.until(lambda: bool(running.api.sent))

    assert running.api.texts() == ["The model could not be reached."]


async def test_why_a_turn_failed_is_said_once(running: Running) -> None:
    """The turn's end says why; a notice may have said the same already."""
    await running.agent.notice("The key is wrong.", turn="t1")
    await running.agent.end_turn("t1", "STATE_FAILED", "The key is wrong.")
    await running.agent.end_turn("t2", "STATE_FAILED", "The model refused.")
    await running.agent.end_turn("t3", "STATE_STOPPED", "You stopped it.")
    await running.agent.reply("next")

    await running.api.until(lambda: running.api.texts()[-1:] == ["next"])

    assert running.api.texts() == ["The key is wrong.", "The model refused.", "next"]


async def test_what_other_agents_reply_is_not_shown_and_their_notices_say_whose_they_are(
    running: Running,
) -> None:
    """A child's reply goes to the root, which says what the user needs of it: else each would come twice."""
    child = {"agent_id": "house-id", "agent": "House", "turn": "t1"}
    await running.agent.tell(reply=event_pb2.Reply(text="the boiler is broken"), **child)
    failed = event_pb2.TurnChange(state="STATE_FAILED", reason="The model refused.")
    await running.agent.tell(turn_change=failed, **child)
    await running.agent.tell(notice=event_pb2.Notice(text="Today's limit is used up."), **child)
    await running.agent.reply("House says that the boiler is broken.")

    await running.api.until(lambda: len(running.api.sent) >= 2)

    assert running.api.texts() == [
        "[House] Today's limit is used up.",
        "House says that the boiler is broken.",
    ]


async def test_a_reply_that_is_long_to_render_holds_up_nothing_else(running: Running) -> None:
    """Else polls, "typing…" and probes would wait for seconds; a probe that fails has the service killed."""
    here = threading.get_ident()
    rendered_by: set[int] = set()

    def looked_at(frame: FrameType, what: str, _: object) -> None:
        if what == "call" and frame.f_code is render.__code__:
            rendered_by.add(threading.get_ident())

    sys.setprofile(looked_at)  # of this thread alone, which is the event loop's
    try:
        render("seen where it runs")
        seen_here = rendered_by.copy()
        rendered_by.clear()
        await running.agent.reply("# a\n" * 300)
        async with asyncio.timeout(30):
            while "taken" not in running.passed:
                await asyncio.sleep(0.005)
    finally:
        sys.setprofile(None)

    assert seen_here == {here}
    assert rendered_by == set()
    await running.api.until(lambda: bool(running.api.sent))
    assert running.api.sent[0]["entities"], "it was rendered all the same"


@pytest.mark.parametrize("text", ["😀" * 2049, "😀" * 5000, "a" * 4095 + "🎩", "!" * 4096, THREE_PIECES])
async def test_a_long_reply_comes_in_pieces_that_are_together_the_whole(running: Running, text: str) -> None:
    await running.agent.reply(text)
    await running.agent.reply("end")

    await running.api.until(lambda: running.api.texts()[-1:] == ["end"])

    pieces = running.api.texts()[:-1]
    assert all(units(piece) <= 4096 for piece in pieces)
    assert "".join(pieces) == text.replace("\n", "")


async def test_a_long_fence_is_code_of_its_language_in_every_message(running: Running) -> None:
    await running.agent.reply("```python\n" + "print('x')\n" * 454 + "```")
    await running.agent.reply("end")

    await running.api.until(lambda: running.api.texts()[-1:] == ["end"])

    languages = [message["entities"][0]["language"] for message in running.api.sent[:-1]]
    assert languages == ["python", "python"]


async def test_what_telegram_refuses_goes_as_it_was_written(running: Running) -> None:
    text = "![alt](http://x.example/a_b.png) and **bold** https://x.example/c_d_e"
    running.api.fail("sendMessage", code=400, times=None, only_formatted=True)

    await running.agent.reply(text)
    await running.api.until(lambda: bool(running.api.sent))

    assert running.api.texts() == [text]
    assert running.api.calls["sendMessage"] == 2


async def test_what_is_refused_as_plain_text_too_is_set_aside_and_the_next_goes_on(running: Running) -> None:
    running.api.fail("sendMessage", code=400, times=2)

    await running.agent.reply("**no**")
    await running.agent.reply("yes")
    await running.api.until(lambda: bool(running.api.sent))

    assert running.api.texts() == ["yes"]
    assert running.store.read(lambda db: piece_store.given_up(db, START)) == 1


async def test_429_on_the_second_of_three_pieces_waits_as_long_as_telegram_says(bench: Bench) -> None:
    async with bench.running():
        bench.api.chats.add(OWNER)
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        bench.api.fail("sendMessage", code=429, retry_after=30, skip=1)
        await bench.agent.reply(THREE_PIECES)
        await bench.clock.until_sleeping()

        assert [text[0] for text in bench.api.texts()] == ["a"]
        assert 30.0 in bench.clock.sleepers
        bench.clock.advance(29)
        assert [text[0] for text in bench.api.texts()] == ["a"]
        bench.clock.advance(1)
        await bench.api.until(lambda: len(bench.api.sent) == 3)

        assert [text[0] for text in bench.api.texts()] == ["a", "b", "c"]


@pytest.mark.parametrize("fault", [{"code": 500}, {"code": 502}, {"code": 401}])
async def test_what_was_certainly_not_sent_is_sent_again_unmarked(
    bench: Bench, fault: dict[str, int]
) -> None:
    bench.api.fail("sendMessage", times=3, **fault)

    async with bench.running(), bench.time_flies():
        bench.api.chats.add(OWNER)
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        await bench.agent.reply("hello")
        await bench.api.until(lambda: bool(bench.api.sent))

    assert bench.api.texts() == ["hello"]


async def test_the_waits_of_one_piece_are_not_the_next_ones(bench: Bench) -> None:
    bench.api.chats.add(OWNER)
    bench.api.fail("sendMessage", code=500, times=4)
    bench.api.fail("sendMessage", code=500, skip=1)

    async with bench.running():
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        await bench.agent.reply("one")
        await bench.agent.reply("two")
        waits = []
        for _ in range(5):
            await bench.clock.until_sleeping()
            waits.append(bench.clock.sleepers[0])
            bench.clock.advance(waits[-1])
        await bench.api.until(lambda: bench.api.texts() == ["one", "two"])

    assert waits[3] > 6
    assert waits[4] < 2


async def test_a_blocked_bot_is_said_and_its_replies_wait(bench: Bench) -> None:
    bench.api.blocked.add(OWNER)
    bench.api.chats.add(OWNER)
    async with bench.running() as running:
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        await bench.agent.reply("one")
        await bench.clock.until_sleeping()
        troubles = running.board.troubles()
        bench.api.blocked.clear()
        bench.clock.advance(60)
        await bench.api.until(lambda: bool(bench.api.sent))

        await bench.agent.reply("two")
        await bench.api.until(lambda: len(bench.api.sent) == 2)

        assert "unblock the bot" in troubles["owner_chat"].sentence
        assert bench.api.texts() == ["one", "two"]
        assert "owner_chat" not in running.board.troubles()


async def test_what_was_said_while_the_gateway_was_away_is_shown_once(bench: Bench) -> None:
    bench.api.chats.add(OWNER)
    async with bench.running():
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        await bench.agent.reply("one")
        await bench.api.until(lambda: len(bench.api.sent) == 1)
    await bench.agent.reply("two")

    async with bench.running():
        await bench.api.until(lambda: len(bench.api.sent) == 2)

    assert bench.api.texts() == ["one", "two"]
    assert (bench.agent.subscribed[1].stream, bench.agent.subscribed[1].after) == ("stream-1", 1)


async def test_what_was_sent_is_kept_without_its_words_as_long_as_the_agent_keeps_events(
    bench: Bench,
) -> None:
    bench.api.chats.add(OWNER)
    async with bench.running():
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        await bench.agent.reply("one")
        await bench.api.until(lambda: len(bench.api.sent) == 1)
    kept = []
    for days in (89, 2):
        bench.clock.advance(days * 86_400)
        async with bench.running(work=False) as running:
            kept.append(
                running.store.read(lambda db: db.execute("SELECT text, plain FROM pieces").fetchall())
            )

    assert kept == [[("", "")], []]


async def test_the_first_subscription_begins_at_the_end(bench: Bench) -> None:
    bench.api.chats.add(OWNER)
    await bench.agent.reply("long ago")

    async with bench.running():
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        await bench.agent.reply("now")
        await bench.api.until(lambda: bool(bench.api.sent))

    assert bench.api.texts() == ["now"]


async def test_events_that_are_gone_are_said_to_be_missed(bench: Bench) -> None:
    bench.api.chats.add(OWNER)
    async with bench.running():
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        await bench.agent.reply("one")
        await bench.api.until(lambda: len(bench.api.sent) == 1)
    for text in ("gone", "gone too", "kept"):
        await bench.agent.reply(text)
    bench.agent.oldest = 4
    del bench.agent.events[:3]

    async with bench.running(), bench.time_flies():
        await bench.api.until(lambda: len(bench.api.sent) == 3)

    assert bench.api.texts() == ["one", MISSED, "kept"]


async def test_a_restored_store_of_the_agent_is_followed_from_its_end(bench: Bench) -> None:
    """Else three months of replies would come again."""
    bench.api.chats.add(OWNER)
    async with bench.running():
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        await bench.agent.reply("one")
        await bench.api.until(lambda: len(bench.api.sent) == 1)
    bench.agent.stream = "stream-2"
    await bench.agent.reply("old")

    async with bench.running(), bench.time_flies():
        await bench.agent.until(lambda: len(bench.agent.subscribed) == 2)
        await bench.agent.reply("new")
        await bench.api.until(lambda: len(bench.api.sent) == 3)

    assert bench.api.texts() == ["one", ANOTHER_STORE, "new"]


async def test_a_chat_that_is_never_opened_is_not_flooded_when_it_is(bench: Bench) -> None:
    async with bench.running() as running, bench.time_flies():
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        for number in range(60):
            await bench.agent.reply(f"reply {number}")
        await bench.agent.reply("last")
        await bench.api.until(lambda: running.store.read(lambda db: piece_store.given_up(db, START)) == 11)
        bench.api.chats.add(OWNER)
        await bench.api.until(lambda: bench.api.texts()[-1:] == ["last"])

    assert len(bench.api.sent) == 50
