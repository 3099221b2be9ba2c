"""A full disk: nothing is lost or done twice, and all goes on by itself once there is room."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.bot_api import OWNER
from tests.fakes.disk import Disk
from tests.fakes.telegram_bench import Bench


@pytest.fixture
def disk(tmp_path: Path, bench: Bench) -> Iterator[Disk]:
    """The disk of the gateway."""
    disk = Disk(f"disk of {tmp_path}", waits=False)
    bench.vfs = disk.name
    bench.api.chats.add(OWNER)
    yield disk
    disk.unregister()


async def test_an_update_that_finds_no_room_stays_with_telegram_until_there_is(
    bench: Bench, disk: Disk
) -> None:
    async with bench.running():
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        update = bench.api.next_update_id
        disk.full = True
        bench.api.say("hello")
        await bench.clock.until_sleeping()
        confirmed = list(bench.api.confirmed)

        disk.full = False
        async with bench.time_flies():
            await bench.agent.until(lambda: bool(bench.agent.deliveries))
            await bench.api.until(lambda: update + 1 in bench.api.confirmed)

    assert update + 1 not in confirmed
    assert bench.agent.texts() == ["hello"]


async def test_what_the_agent_says_meanwhile_is_taken_once_there_is_room(bench: Bench, disk: Disk) -> None:
    async with bench.running():
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        await bench.agent.reply("one")
        await bench.api.until(lambda: bench.api.texts() == ["one"])
        disk.full = True
        await bench.agent.reply("two")
        await bench.clock.until_sleeping()

        disk.full = False
        async with bench.time_flies():
            await bench.api.until(lambda: len(bench.api.sent) == 2)

    assert bench.api.texts() == ["one", "two"]


async def test_a_piece_that_cannot_be_recorded_as_sending_is_not_sent_before_it_is(
    bench: Bench, disk: Disk
) -> None:
    async with bench.running():
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        bench.api.fail("sendMessage", code=429, retry_after=30)
        await bench.agent.reply("hello")
        await bench.clock.until_sleeping()
        disk.full = True
        bench.clock.advance(30)
        await bench.clock.until_sleeping()
        tried = bench.api.calls["sendMessage"]

        disk.full = False
        async with bench.time_flies():
            await bench.api.until(lambda: bool(bench.api.sent))

    assert (tried, bench.api.texts()) == (1, ["hello"])


async def test_what_was_sent_when_the_disk_was_full_is_not_sent_again(bench: Bench, disk: Disk) -> None:
    async with bench.running():
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        held = bench.api.fail("sendMessage", how="hold")
        await bench.agent.reply("hello")
        await bench.api.until(lambda: bench.api.calls["sendMessage"] == 1)
        disk.full = True
        held.released.set()
        await bench.clock.until_sleeping()

        disk.full = False
        async with bench.time_flies():
            await bench.agent.reply("next")
            await bench.api.until(lambda: bench.api.texts()[-1:] == ["next"])

    assert bench.api.texts() == ["hello", "next"]
