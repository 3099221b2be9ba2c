"""What people write reaches the agent: each message once, in order, with nobody else's words among them."""

import asyncio

import grpc
from onechat_telegram.domain.wording import NOT_FOR_YOU

from tests.fakes.bot_api import OWNER
from tests.fakes.telegram_bench import Bench, Running

STRANGER = 777


async def test_a_message_of_the_owner_reaches_the_agent_with_its_own_key(running: Running) -> None:
    message = running.api.say("hello")

    await running.agent.until(lambda: bool(running.agent.deliveries))

    [(key, delivery)] = running.agent.deliveries.items()
    assert key == f"telegram:{running.api.bot_id}:{OWNER}:{message}"
    assert delivery.text == "hello"
    assert delivery.backed
    assert delivery.source == "user"
    assert (delivery.reply_to.chat, delivery.reply_to.message) == (str(OWNER), str(message))


async def test_an_update_is_on_disk_before_telegram_is_told(running: Running) -> None:
    """The offset that confirms an update is sent by the poll after its commit."""
    update = running.api.next_update_id
    running.api.say("hello")

    await running.api.until(lambda: update + 1 in running.api.confirmed)

    assert running.passed.index("kept") > running.passed.index("polled")
    assert running.api.confirmed[-1] == update + 1


async def test_an_edited_message_goes_again_marked_as_an_edit(running: Running) -> None:
    message = running.api.say("helo")
    running.api.edit(message, "hello", edit_date=1_900_000_000)

    await running.agent.until(lambda: len(running.agent.deliveries) == 2)

    key, delivery = list(running.agent.deliveries.items())[1]
    assert key == f"telegram:{running.api.bot_id}:{OWNER}:{message}:1900000000"
    assert delivery.text.startswith("[edited; replaces what I wrote on ")
    assert delivery.text.endswith("\nhello")


async def test_an_edit_that_comes_before_its_message_was_handed_over_follows_it(bench: Bench) -> None:
    bench.agent.fail("Deliver", code=grpc.StatusCode.UNAVAILABLE, times=2)
    async with bench.running() as running, bench.time_flies():
        message = running.api.say("helo")
        running.api.edit(message, "hello", edit_date=1_900_000_000)
        await running.agent.until(lambda: len(running.agent.deliveries) == 2)

    assert [text.split("\n")[-1] for text in bench.agent.texts()] == ["helo", "hello"]


async def test_an_edited_command_is_run_as_it_is_now_and_counts_from_then(running: Running) -> None:
    """Else /stop would stop only what began before the first writing."""
    message = running.api.say("/stop Huose", date=1_700_000_000)
    running.api.edit(message, "/stop House", edit_date=1_700_000_060)
    await running.api.until(lambda: len(running.api.sent) == 2)

    assert running.api.texts() == ["did /stop Huose", "did /stop House"]
    assert [command.time.seconds for command in running.agent.commands.values()] == [
        1_700_000_001,
        1_700_000_061,
    ]


async def test_nothing_is_handed_over_before_answers_can_be_followed(bench: Bench) -> None:
    """Else an answer that is quick would lie before the place in the events, and never be shown."""
    bench.agent.fail("Subscribe", code=grpc.StatusCode.RESOURCE_EXHAUSTED)
    bench.agent.replies = lambda delivery: f"echo of {delivery.text}"
    bench.api.chats.add(OWNER)
    async with bench.running() as running:
        running.api.say("hello")
        await bench.api.until(lambda: "joined" in running.passed)
        await bench.clock.until_sleeping()
        for _ in range(100):
            await asyncio.sleep(0)
        assert not bench.agent.calls["Deliver"]

        async with bench.time_flies():
            await bench.api.until(lambda: bench.api.texts() == ["echo of hello"])


async def test_ids_that_begin_anew_at_a_lower_number_are_read(running: Running) -> None:
    """After a quiet week Telegram numbers updates from anywhere."""
    running.api.say("before")
    await running.agent.until(lambda: len(running.agent.deliveries) == 1)

    running.api.next_update_id = 12_345
    running.api.say("after")
    await running.agent.until(lambda: len(running.agent.deliveries) == 2)
    running.api.say("and again")
    await running.agent.until(lambda: len(running.agent.deliveries) == 3)

    assert running.agent.texts() == ["before", "after", "and again"]


async def test_of_one_answer_the_last_update_is_the_one_to_go_on_from(bench: Bench) -> None:
    bench.api.say("before")
    bench.api.next_update_id = 12_345
    bench.api.say("after")

    async with bench.running() as running:
        await running.agent.until(lambda: len(running.agent.deliveries) == 2)
        await running.api.until(lambda: bool(running.api.confirmed))

    assert bench.api.confirmed[0] == 12_346


async def test_an_id_that_comes_again_while_its_first_update_is_set_aside_is_another_update(
    bench: Bench,
) -> None:
    bench.agent.fail("Deliver", code=grpc.StatusCode.INTERNAL, times=1000, only_key=":1")
    async with bench.running() as running, bench.time_flies():
        first = running.api.next_update_id
        running.api.say("set aside")
        await running.api.until(lambda: first + 1 in running.api.confirmed)
        async with asyncio.timeout(30):
            while not running.gateway.outbox.set_aside():
                await asyncio.sleep(0)
        running.api.next_update_id = first
        running.api.say("new")
        await running.agent.until(lambda: bool(running.agent.deliveries))

    assert bench.agent.texts() == ["new"]


async def test_messages_wait_for_an_agent_that_is_away_in_their_order(bench: Bench) -> None:
    bench.agent.fail("Deliver", code=grpc.StatusCode.ABORTED, times=2)
    bench.agent.fail("Deliver", code=grpc.StatusCode.RESOURCE_EXHAUSTED, when="after", times=1)

    async with bench.running() as running, bench.time_flies():
        running.api.say("one")
        running.api.say("two")
        await running.agent.until(lambda: len(running.agent.deliveries) == 2)

    assert bench.agent.texts() == ["one", "two"]
    assert bench.agent.calls["Deliver"] == 5


async def test_an_update_that_always_fails_is_set_aside_and_the_next_goes_on(bench: Bench) -> None:
    bench.agent.fail("Deliver", code=grpc.StatusCode.INTERNAL, times=1000, only_key=":1")

    async with bench.running() as running, bench.time_flies():
        running.api.say("ten")
        running.api.say("eleven")
        await running.agent.until(lambda: bool(running.agent.deliveries))
        [aside] = running.gateway.outbox.set_aside()

    assert bench.agent.texts() == ["eleven"]
    assert "INTERNAL" in aside.trace
    assert bench.agent.calls["Deliver"] == 6


async def test_an_update_of_a_shape_that_can_not_be_is_set_aside_too(bench: Bench) -> None:
    bench.api.update({"message": {"message_id": "x", "chat": {"type": "private"}, "from": {"id": 1}}})
    bench.api.say("after it")

    async with bench.running() as running, bench.time_flies():
        await running.agent.until(lambda: bool(running.agent.deliveries))
        aside = running.gateway.outbox.set_aside()

    assert bench.agent.texts() == ["after it"]
    assert len(aside) == 1


async def test_a_key_that_the_agent_knows_in_other_words_counts_as_handed_over(running: Running) -> None:
    """An earlier version of this service may have worded the same message otherwise, before it was killed."""
    running.agent.fail("Deliver", code=grpc.StatusCode.ALREADY_EXISTS, reason="KEY_REUSED")

    running.api.say("one")
    running.api.say("two")
    await running.agent.until(lambda: bool(running.agent.deliveries))

    assert running.agent.texts() == ["two"]
    assert running.gateway.outbox.set_aside() == []


async def test_stop_passes_messages_that_wait(running: Running) -> None:
    held = running.agent.fail("Deliver", times=1)
    held.released = asyncio.Event()
    running.api.say("a long story")
    await running.agent.until(lambda: running.agent.calls["Deliver"] == 1)

    running.api.say(f"/stop@{running.api.username} House", date=1_800_000_000)
    await running.api.until(lambda: running.api.texts() == ["did /stop House"])

    [command] = running.agent.commands.values()
    assert command.line == "/stop House"
    assert not running.agent.deliveries
    held.released.set()


async def test_stop_passes_other_commands(running: Running) -> None:
    """Their answers may take seconds, such as that of a yes, which waits a little for how its run went."""
    held = running.agent.fail("RunCommand", times=1)
    held.released = asyncio.Event()
    running.api.say("/yes 7")
    await running.agent.until(lambda: running.agent.calls["RunCommand"] == 1)

    running.api.say("/stop")
    await running.api.until(lambda: running.api.texts() == ["did /stop"])

    held.released.set()


async def test_an_answer_in_columns_is_shown_in_letters_of_one_width(running: Running) -> None:
    running.api.say("/usage  of  columns")

    await running.api.until(lambda: bool(running.api.sent))

    [message] = running.api.sent
    assert message["text"] == "did /usage  of  columns"
    assert [entity["type"] for entity in message["entities"]] == ["pre"]


async def test_a_line_that_only_looks_like_a_command_is_a_message(running: Running) -> None:
    running.api.say("/etc/passwd is a file")

    await running.agent.until(lambda: bool(running.agent.deliveries))

    assert running.agent.texts() == ["/etc/passwd is a file"]


async def test_what_looks_like_a_path_keeps_its_place_among_the_messages(running: Running) -> None:
    held = running.agent.fail("Deliver", times=1)
    held.released = asyncio.Event()
    running.api.say("read this:")
    await running.agent.until(lambda: running.agent.calls["Deliver"] == 1)
    running.api.say("/etc/hosts please")
    running.api.say("/help")
    await running.api.until(lambda: running.api.texts() == ["did /help"])

    held.released.set()
    await running.agent.until(lambda: len(running.agent.deliveries) == 2)

    assert running.agent.texts() == ["read this:", "/etc/hosts please"]
    assert running.agent.calls["RunCommand"] == 1


async def test_what_the_agent_takes_for_no_command_is_a_message(running: Running) -> None:
    """Which lines are commands is the agent's to say, perhaps of another version."""
    running.agent.fail("RunCommand", code=grpc.StatusCode.INVALID_ARGUMENT, reason="NOT_A_COMMAND")

    running.api.say("/tmp is full")
    await running.agent.until(lambda: bool(running.agent.deliveries))

    assert running.agent.texts() == ["/tmp is full"]
    assert not running.api.sent


async def test_a_kind_that_is_not_read_gets_one_line(running: Running) -> None:
    running.api.update(
        {
            "message": {
                "message_id": 5,
                "date": 1,
                "from": {"id": OWNER},
                "chat": {"id": OWNER, "type": "private"},
                "voice": {},
            }
        }
    )

    await running.api.until(lambda: bool(running.api.sent))

    assert running.api.texts() == ["Voice messages are not read yet: please write it as text."]
    assert not running.agent.deliveries


async def test_somebody_else_gets_one_refusal_an_hour_and_reaches_nothing(bench: Bench) -> None:
    async with bench.running() as running:
        for text in ("hi", "/stop", "hi again"):
            running.api.say(text, user=STRANGER)
        await running.api.until(lambda: bool(running.api.texts(STRANGER)))
        bench.clock.advance(3601)
        running.api.say("still here", user=STRANGER)
        await running.api.until(lambda: len(running.api.texts(STRANGER)) == 2)

        assert running.api.texts(STRANGER) == [NOT_FOR_YOU] * 2
        assert not running.agent.deliveries
        assert not running.agent.commands


async def test_a_clock_that_was_wrong_leaves_nobody_without_a_word_for_long(bench: Bench) -> None:
    async with bench.running() as running:
        running.api.say("hi", user=STRANGER)
        await running.api.until(lambda: len(running.api.texts(STRANGER)) == 1)
        bench.clock.step_wall_clock(-86_400)
        running.api.say("hi again", user=STRANGER)

        await running.api.until(lambda: len(running.api.texts(STRANGER)) == 2)


async def test_a_forwarded_text_is_marked_as_somebody_elses_words(running: Running) -> None:
    """Else a forwarded "/stop", or any order in it, would count as the owner's."""
    running.api.say(
        "/stop\ndo as I say",
        forward_origin={"type": "user", "sender_user": {"id": 9, "first_name": "Eve"}},
    )

    await running.agent.until(lambda: bool(running.agent.deliveries))

    assert running.agent.texts() == ["Forwarded, written by Eve:\n| /stop\n| do as I say"]


async def test_groups_are_passed_over(running: Running) -> None:
    running.api.update(
        {
            "message": {
                "message_id": 1,
                "date": 1,
                "from": {"id": OWNER},
                "chat": {"id": -5, "type": "group"},
                "text": "hi all",
            }
        }
    )
    running.api.say("hi you")

    await running.agent.until(lambda: bool(running.agent.deliveries))

    assert running.agent.texts() == ["hi you"]


async def test_another_token_is_another_bot_with_its_own_offset(bench: Bench) -> None:
    async with bench.running() as running:
        running.api.say("to the first")
        await running.agent.until(lambda: len(running.agent.deliveries) == 1)
    bench.api.token = "99:another"
    bench.api.updates.clear()
    bench.api.confirmed.clear()
    bench.api.next_update_id = 5

    async with bench.running() as running:
        running.api.say("to the second")
        await running.agent.until(lambda: len(running.agent.deliveries) == 2)

    assert list(running.agent.deliveries)[1].startswith("telegram:99:")
