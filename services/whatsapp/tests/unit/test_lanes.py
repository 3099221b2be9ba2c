"""One at a time for each key, in the order of asking."""

import asyncio

from onechat_whatsapp.lanes import Lanes


async def test_one_key_is_held_by_one_at_a_time_and_another_key_by_another():
    lanes, said, held = Lanes(), [], asyncio.Event()

    async def pass_by(key: str, name: str) -> None:
        async with lanes.of(key):
            said.append(f"{name} in")
            if name == "first":
                await held.wait()
            said.append(f"{name} out")

    tasks = [asyncio.create_task(pass_by("a", "first")), asyncio.create_task(pass_by("a", "second"))]
    await asyncio.sleep(0)
    await pass_by("b", "other")
    held.set()
    await asyncio.gather(*tasks)

    assert said == ["first in", "other in", "other out", "first out", "second in", "second out"]


async def test_who_gives_up_waiting_holds_up_nobody():
    lanes, said = Lanes(), []
    async with lanes.of("a"):
        waits = asyncio.create_task(enter(lanes, said, "gone"))
        after = asyncio.create_task(enter(lanes, said, "after"))
        await asyncio.sleep(0)
        waits.cancel()
    await asyncio.gather(waits, after, return_exceptions=True)

    assert said == ["after"]


async def test_a_lane_that_nobody_is_in_is_not_kept():
    """Keys are ids of messages, of which there is no end."""
    lanes = Lanes()

    await asyncio.gather(*(enter(lanes, [], str(n % 3)) for n in range(30)))

    assert lanes.kept == 0


async def enter(lanes: Lanes, said: list[str], name: str) -> None:
    async with lanes.of("a" if name in ("gone", "after") else name):
        said.append(name)
