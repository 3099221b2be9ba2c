"""Several updates that are one message for the agent: albums, and texts that did not fit into one."""

import asyncio
from typing import Any

import grpc
import pytest
from onechat_telegram.joining import PARTS_MAX, Joining

from tests.fakes.bot_api import OWNER
from tests.fakes.telegram_bench import Bench, Running

DATE = 1_800_000_000
LONG = "a" * 4096


def part(running: Running, message: int, **fields: Any) -> None:
    """A message of the owner's, of any kind."""
    running.api.update(
        {
            "message": {
                "message_id": message,
                "date": DATE,
                "from": {"id": OWNER, "is_bot": False, "first_name": "Ada"},
                "chat": {"id": OWNER, "type": "private", "first_name": "Ada"},
            }
            | fields
        }
    )


def video(running: Running, message: int, caption: str, **fields: Any) -> None:
    """A part of an album that is heavy to send and only its words are read."""
    part(running, message, video={}, caption=caption, media_group_id="album-1", **fields)


async def a_second_passes(bench: Bench) -> None:
    """What waits for more has waited long enough."""
    await bench.clock.until_sleeping()
    bench.clock.advance(1)


async def kept(running: Running, updates: int) -> None:
    """Return once so many updates wait in the inbox."""
    async with asyncio.timeout(30):
        while running.gateway.outbox.waiting() != updates:
            await asyncio.sleep(0.005)


async def test_an_album_of_three_is_one_message_with_its_captions_in_order(
    running: Running, bench: Bench
) -> None:
    for message, caption in ((5, "a"), (6, "b"), (7, "c")):
        video(running, message, caption)
    await kept(running, 3)

    await a_second_passes(bench)
    await running.agent.until(lambda: bool(running.agent.deliveries))
    await kept(running, 0)

    [(key, delivery)] = running.agent.deliveries.items()
    assert key == f"telegram:{running.api.bot_id}:{OWNER}:5"
    assert delivery.text == "a\nb\nc\n[sent with it, but not to be seen here: Videos]"
    assert delivery.reply_to.message == "5"
    assert running.store.read(lambda db: db.execute("SELECT count(*) FROM joined").get) == 0


async def test_an_album_waits_a_second_after_its_last_part(running: Running, bench: Bench) -> None:
    video(running, 5, "a")
    await kept(running, 1)
    await bench.clock.until_sleeping()
    bench.clock.advance(0.9)
    video(running, 6, "b")
    await kept(running, 2)
    bench.clock.advance(0.1)
    await bench.clock.until_sleeping()

    assert bench.clock.sleepers == [pytest.approx(0.9)]
    assert not running.agent.deliveries
    bench.clock.advance(0.9)
    await running.agent.until(lambda: bool(running.agent.deliveries))
    assert running.agent.texts()[0].startswith("a\nb\n")


async def test_messages_after_an_album_come_after_it(running: Running, bench: Bench) -> None:
    video(running, 5, "a")
    part(running, 6, text="what is this?")
    video(running, 7, "b")
    await kept(running, 3)

    await a_second_passes(bench)
    await running.agent.until(lambda: len(running.agent.deliveries) == 2)

    assert [text.split("\n")[:2] for text in running.agent.texts()] == [["a", "b"], ["what is this?"]]


async def test_what_cannot_be_read_among_its_parts_costs_an_album_nothing(
    running: Running, bench: Bench
) -> None:
    video(running, 5, "a")
    part(running, 6, chat={"id": "x", "type": "private"})
    running.api.update({"edited_message": None})
    video(running, 7, "b")
    await kept(running, 4)

    async with bench.time_flies():
        await running.agent.until(lambda: bool(running.agent.deliveries))

    assert running.agent.texts()[0].startswith("a\nb\n")


async def test_two_albums_are_two_messages(running: Running, bench: Bench) -> None:
    video(running, 5, "a")
    part(running, 6, video={}, caption="other", media_group_id="album-2")
    await kept(running, 2)

    async with bench.time_flies():
        await running.agent.until(lambda: len(running.agent.deliveries) == 2)

    assert [text.split("\n")[0] for text in running.agent.texts()] == ["a", "other"]


async def test_the_edit_of_an_albums_part_goes_alone(running: Running, bench: Bench) -> None:
    video(running, 5, "a")
    running.api.update(
        {
            "edited_message": {
                "message_id": 5,
                "date": DATE,
                "edit_date": DATE + 1,
                "from": {"id": OWNER},
                "chat": {"id": OWNER, "type": "private"},
                "video": {},
                "caption": "b",
                "media_group_id": "album-1",
            }
        }
    )
    await kept(running, 2)

    await a_second_passes(bench)
    await running.agent.until(lambda: len(running.agent.deliveries) == 2)

    assert list(running.agent.deliveries)[1].endswith(f":5:{DATE + 1}")
    assert "\nb\n" in running.agent.texts()[1]


async def test_an_edit_of_a_long_text_waits_for_nothing(running: Running) -> None:
    """What continues the text is not told again with it."""
    message = running.api.say(LONG[97:])
    running.api.edit(message, LONG, edit_date=DATE)

    await running.agent.until(lambda: len(running.agent.deliveries) == 2)

    assert running.agent.texts()[1].endswith(f"\n{LONG}")


async def test_parts_that_come_out_of_order_are_put_into_it(running: Running, bench: Bench) -> None:
    video(running, 6, "b")
    video(running, 5, "a")
    await kept(running, 2)

    await a_second_passes(bench)
    await running.agent.until(lambda: bool(running.agent.deliveries))

    [(key, delivery)] = running.agent.deliveries.items()
    assert key.endswith(":5")
    assert delivery.text.startswith("a\nb\n")


async def test_a_part_that_waits_in_no_such_lane_is_a_message_of_its_own(
    running: Running, bench: Bench
) -> None:
    """As one that came when the bot had no owner yet."""
    joining = Joining(running.store, bench.clock)
    fields = {"message_id": 5, "date": DATE, "from": {"id": 9}, "chat": {"id": 9, "type": "private"}}
    update = {"message": fields | {"caption": "a", "video": {}, "media_group_id": "album-1"}}

    [part] = await joining.whole("8:1:1:0", update, "stranger:9")

    assert (part.key, part.written.text) == ("8:1:1:0", "a")


async def test_a_clock_that_is_set_back_while_a_text_waits_holds_it_up_a_second(
    running: Running, bench: Bench
) -> None:
    held = running.agent.fail("Deliver", times=1)
    held.released = asyncio.Event()
    running.api.say("before it")
    await running.agent.until(lambda: running.agent.calls["Deliver"] == 1)
    running.api.say(LONG, date=DATE)
    await kept(running, 2)
    bench.clock.step_wall_clock(-3600)
    held.released.set()

    await a_second_passes(bench)
    await running.agent.until(lambda: len(running.agent.deliveries) == 2)

    assert running.agent.texts() == ["before it", LONG]


async def test_a_part_that_comes_too_late_is_a_message_of_its_own(running: Running, bench: Bench) -> None:
    video(running, 5, "a")
    await kept(running, 1)
    await a_second_passes(bench)
    await running.agent.until(lambda: len(running.agent.deliveries) == 1)

    video(running, 6, "b")
    async with bench.time_flies():
        await running.agent.until(lambda: len(running.agent.deliveries) == 2)

    assert list(running.agent.deliveries)[1].endswith(":6")


async def test_a_part_that_comes_between_the_hand_over_and_a_kill_is_not_lost(bench: Bench) -> None:
    """Were it put into what was handed over before, the agent would know that key and not take it."""
    held = bench.agent.fail("Deliver", when="after")
    held.released = asyncio.Event()
    async with bench.running() as running:
        video(running, 5, "a")
        await kept(running, 1)
        await a_second_passes(bench)
        await running.agent.until(lambda: bool(running.agent.deliveries))
        video(running, 6, "b")
        await kept(running, 2)
        bench.copy_as_if_killed()
        held.released.set()
    bench.api.updates.clear()

    async with bench.running() as running, bench.time_flies():
        await running.agent.until(lambda: len(running.agent.deliveries) == 2)
        await kept(running, 0)

    assert [text.split("\n")[0] for text in bench.agent.texts()] == ["a", "b"]


async def test_what_was_decided_to_belong_together_stays_so(running: Running, bench: Bench) -> None:
    """A try of which no answer came may have reached the agent; the next must hold the same."""
    bench.agent.fail("Deliver", code=grpc.StatusCode.ABORTED)
    video(running, 5, "a")
    await kept(running, 1)
    await a_second_passes(bench)
    await running.agent.until(lambda: running.agent.calls["Deliver"] == 1)
    video(running, 6, "b")
    await kept(running, 2)

    async with bench.time_flies():
        await running.agent.until(lambda: len(running.agent.deliveries) == 2)

    assert [text.split("\n")[0] for text in running.agent.texts()] == ["a", "b"]
    assert running.agent.texts()[0].count("\n") == 1


async def test_the_parts_of_an_album_stay_until_the_whole_is_handed_over(bench: Bench) -> None:
    bench.agent.fail("Deliver", code=grpc.StatusCode.ABORTED, times=2)
    async with bench.running() as running:
        video(running, 5, "a")
        video(running, 6, "b")
        await kept(running, 2)
        await a_second_passes(bench)
        await running.agent.until(lambda: running.agent.calls["Deliver"] == 1)
        await bench.clock.until_sleeping()
        bench.copy_as_if_killed()

    async with bench.running() as running, bench.time_flies():
        await running.agent.until(lambda: bool(running.agent.deliveries))
        await kept(running, 0)

    [text] = bench.agent.texts()
    assert text.startswith("a\nb\n")


async def test_a_long_text_is_joined_with_its_continuation(running: Running, bench: Bench) -> None:
    running.api.say(LONG, date=DATE)
    await kept(running, 1)
    await bench.clock.until_sleeping()
    running.api.say("b", date=DATE)
    await kept(running, 2)
    bench.clock.advance(1)

    await running.agent.until(lambda: bool(running.agent.deliveries))
    await kept(running, 0)

    [(key, delivery)] = running.agent.deliveries.items()
    assert key.endswith(f"{OWNER}:1")
    assert delivery.text == LONG + "b"


async def test_a_text_that_has_ended_waits_for_nothing(bench: Bench) -> None:
    """Either its rest is short, or what came after it is something else."""
    bench.api.say(LONG, date=DATE)
    bench.api.say("b", date=DATE)
    bench.api.say(LONG, date=DATE + 60)
    bench.api.say("something else", date=DATE + 120)

    async with bench.running() as running:
        await running.agent.until(lambda: len(running.agent.deliveries) == 3)

    assert running.agent.texts() == [f"{LONG}b", LONG, "something else"]


async def test_a_text_whose_last_part_is_there_waits_for_nothing(bench: Bench) -> None:
    bench.api.say(LONG, date=DATE)
    bench.api.say("b", date=DATE)

    async with bench.running() as running:
        await running.agent.until(lambda: bool(running.agent.deliveries))

    assert running.agent.texts() == [f"{LONG}b"]


async def test_a_text_without_end_goes_in_messages_that_the_agent_takes(bench: Bench) -> None:
    for _ in range(PARTS_MAX + 2):
        bench.api.say(LONG, date=DATE)

    async with bench.running() as running, bench.time_flies():
        await running.agent.until(lambda: len(running.agent.deliveries) == 2)

    assert running.agent.texts() == [LONG * PARTS_MAX, LONG * 2]


async def test_a_text_of_many_parts_is_one_message(running: Running, bench: Bench) -> None:
    for _ in range(5):
        running.api.say(LONG, date=DATE)
    running.api.say("the end", date=DATE)
    running.api.say("and something else", date=DATE)

    async with bench.time_flies():
        await running.agent.until(lambda: len(running.agent.deliveries) == 2)

    assert running.agent.texts() == [LONG * 5 + "the end", "and something else"]


async def test_a_long_text_alone_goes_after_a_second(running: Running, bench: Bench) -> None:
    running.api.say("a" * 4000, date=DATE)
    await kept(running, 1)

    await a_second_passes(bench)
    await running.agent.until(lambda: bool(running.agent.deliveries))

    assert running.agent.texts() == ["a" * 4000]


async def test_a_shorter_text_does_not_wait(running: Running, bench: Bench) -> None:
    running.api.say("a" * 3999, date=DATE)
    running.api.say("b", date=DATE)

    await running.agent.until(lambda: len(running.agent.deliveries) == 2)

    assert running.agent.texts() == ["a" * 3999, "b"]


async def test_the_rest_of_a_long_text_is_no_command_however_it_begins(
    running: Running, bench: Bench
) -> None:
    """A pasted text may be cut before a slash; what follows was not meant to stop anything."""
    running.api.say(LONG, date=DATE)
    running.api.say("/stop is a word in it", date=DATE)
    await kept(running, 2)

    async with bench.time_flies():
        await running.agent.until(lambda: bool(running.agent.deliveries))

    assert running.agent.texts() == [f"{LONG}/stop is a word in it"]
    assert not running.agent.commands


async def test_a_clock_that_is_set_back_holds_nothing_up(running: Running, bench: Bench) -> None:
    running.api.say(LONG, date=DATE)
    await kept(running, 1)
    await bench.clock.until_sleeping()
    bench.clock.step_wall_clock(-3600)
    bench.clock.advance(1)

    await running.agent.until(lambda: bool(running.agent.deliveries))

    assert running.agent.texts() == [LONG]


async def test_what_is_told_of_an_album_is_told_once(running: Running, bench: Bench) -> None:
    for message in (5, 6, 7):
        part(running, message, video={}, media_group_id="album-1")
    await kept(running, 3)

    await a_second_passes(bench)
    await running.api.until(lambda: bool(running.api.sent))

    assert running.api.texts() == ["Videos are not read yet: please write it as text."]
    assert not running.agent.deliveries
