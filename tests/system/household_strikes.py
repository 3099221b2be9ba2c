"""Households whose services are killed: at points of one of them, or at moments that chance decides.

The points: household_points.py. What must be the same afterwards: household_left.py. Times are seconds.
"""

import asyncio
import random
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tests.fakes.five_services import SERVICES, FiveServices, Forks
from tests.fakes.five_services_chat import Chat, again
from tests.fakes.five_services_points import Point
from tests.system.household_left import Left, differences, left_by
from tests.system.household_points import Run, service_of
from tests.system.household_run import WITHIN_S, Household, household_in

AT_ONCE = 2  # households; each waits a good deal
MOMENT_S = 4.0  # for a moment that does not come; then it is any moment
EVENTS = 80  # of a run, or somewhat more


async def struck(forks: Forks, folder: Path, wanted: Left, runs: Sequence[Run]) -> dict[str, list[str] | str]:
    """Those of `runs` that change what is left, each with how.

    Agents work side by side, so that a later point of a run may have been passed before its turn comes: then
    the run's points have a run each.
    """
    wrong: dict[str, list[str] | str] = {}
    room = asyncio.Semaphore(AT_ONCE)

    async def strike(number: str, run: Run) -> None:
        async with room:
            left = await left_after(forks, folder / number, service_of(run.at[0]), run.at)
        if left is None and len(run.alone) > 1:
            for place, point in enumerate(run.alone):
                await strike(f"{number}-{place}", Run.of(point))
        elif left is None:
            wrong[run.name] = "was not reached"
        elif left != wanted:
            wrong[run.name] = differences(wanted, left)

    async with asyncio.TaskGroup() as tasks:
        for number, run in enumerate(runs):
            tasks.create_task(strike(str(number), run))
    return wrong


async def left_after(
    forks: Forks, folder: Path, service: str = "", at: Sequence[Point] = (), **environ: str
) -> Left | None:
    """What a run leaves behind in which `service` is killed at these points; None when one was not reached.

    Each is a point of a process of its own, one after the other. `environ`: more of the services' settings.
    """
    async with household_in(forks, folder) as house:
        services = house.services
        services.environ |= environ
        await services.start(*(name for name in SERVICES if name != service))
        struck = await _struck(house, service, at) if at else True
        if not at:
            await house.live()
        if not struck:
            return None
        assert services.kills == {name: len(at) if name == service else 0 for name in SERVICES}
        assert house.model.refusals() == []
        return await again(lambda: left_by(house.chat))


async def _struck(house: Household, service: str, at: Sequence[Point]) -> bool:
    """Live with a service that is killed at these points; whether it was. Raises as soon as it goes wrong."""
    rising = asyncio.ensure_future(_rise(house.services, service, at))
    living = asyncio.ensure_future(house.live())
    try:
        await asyncio.wait({rising, living}, return_when=asyncio.FIRST_COMPLETED)
        if rising.done():
            rising.result()
        await living
        if not house.services.running(service):
            await rising  # it was killed by the last thing that it did
        return rising.done()
    finally:
        for task in (rising, living):
            task.cancel()
        await asyncio.gather(rising, living, return_exceptions=True)


async def _rise(services: FiveServices, service: str, at: Sequence[Point]) -> None:
    """Start it with its point and, as a supervisor does, once more when that has killed it."""
    for point in at:
        await services.start(service, point=point, ready=False)
        await services.killed(service, within_s=WITHIN_S * 4)
    await services.start(service)


async def live_through(house: Household, rng: random.Random, kills: int) -> None:
    """A run in which services are killed `kills` times, whichever, spread over all that is seen of it."""
    living = asyncio.ensure_future(house.live())
    try:
        for moment in sorted(rng.sample(range(EVENTS), kills)):
            await _seen(house.chat, moment)
            name = rng.choice(SERVICES)
            await house.services.kill(name)
            await house.services.start(name)
        await living
    finally:
        living.cancel()
        await asyncio.gather(living, return_exceptions=True)


async def _seen(chat: Chat, events: int) -> None:
    """Return once so many events were seen, or after a while in which nothing is."""
    with suppress(TimeoutError):
        await chat.until(lambda: len(chat.events) >= events, MOMENT_S)
