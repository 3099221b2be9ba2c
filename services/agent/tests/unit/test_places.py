"""Places for those who work at once: bounded, first come first served, and given back whatever happens."""

import asyncio

from onechat_agent.domain.chat import AgentId
from onechat_agent.places import Places

A, B, C, D = (AgentId(name) for name in "abcd")


async def asked(places: Places, *who: AgentId) -> list["asyncio.Task[bool]"]:
    """Each asks for a place; all of them have asked when this returns."""
    tasks = [asyncio.create_task(places.take(one)) for one in who]
    await asyncio.sleep(0)
    return tasks


async def test_no_more_than_there_are_places_have_one():
    places = Places(2)

    tasks = await asked(places, A, B, C)

    assert [task.done() for task in tasks] == [True, True, False]
    assert [one in places for one in (A, B, C)] == [True, True, False]
    assert places.free == 0
    places.leave(C)
    assert await tasks[2] is False


async def test_places_are_given_in_the_order_in_which_they_were_asked_for():
    places = Places(1)
    tasks = await asked(places, A, B, C)

    places.leave(A)

    assert await tasks[1] is True
    assert not tasks[2].done()
    places.leave(B)
    assert await tasks[2] is True


async def test_one_who_has_a_place_keeps_it_when_asking_again():
    places = Places(1)
    await asked(places, A, B)

    assert await places.take(A) is True
    places.leave(B)


async def test_one_who_left_the_line_gets_none_and_holds_up_nobody():
    places = Places(1)
    tasks = await asked(places, A, B, C)

    places.leave(B)
    places.leave(A)

    assert [await tasks[1], await tasks[2]] == [False, True]


async def test_one_who_is_cancelled_in_line_gives_way():
    """Also when the place was given to them in the very moment."""
    places = Places(1)
    tasks = await asked(places, A, B, C, D)

    tasks[1].cancel()
    places.leave(A)
    tasks[2].cancel()

    assert await tasks[3] is True
    assert [one in places for one in (A, B, C, D)] == [False, False, False, True]
