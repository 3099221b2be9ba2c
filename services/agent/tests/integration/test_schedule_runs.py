"""What a schedule brings at its time: a turn of its owner, with as much behind it as when it was set."""

from pathlib import Path
from typing import Any

import pytest
from onechat.agent.v1 import delivery_pb2, event_pb2

from tests.fakes.agent_house import House, living
from tests.fakes.agent_talk import make_child, says, user_texts
from tests.fakes.child_folders import HOUSE, house_opened_once, take_house_away
from tests.fakes.far_tools import send, whatsapp_send
from tests.fakes.memory_server import MemoryServer
from tests.fakes.proposal_talk import listed
from tests.fakes.scripted_model import Answer, Purpose, ScriptedModel, call

SUM_UP = "[Schedule 3] Sum up my groups."
ENDED = event_pb2.TurnChange.STATE_ENDED
OPEN = event_pb2.PROPOSAL_STATE_OPEN


async def run_comes(house: House, to: str, *, text: str = SUM_UP, **fields: Any) -> str:
    """As the scheduler hands it over; its key."""
    due = {"key": f"schedule:3:2027-01-20T17:0{fields.pop('minute', 0)}Z", "backed": True}
    return await house.deliver(
        text,
        caller="scheduler",
        to=to,
        source="schedule:3",
        kind=delivery_pb2.DELIVERY_KIND_WORK,
        wakes_root=True,
        **{**due, **fields},
    )


async def test_a_run_starts_a_turn_of_the_root_with_its_words_alone(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """It is the agent's own order: nothing marks it as somebody else's, and no line lets it be ignored."""
    async with living(tmp_path, memory, model) as house:
        model.say("two groups")
        end = await house.ended(await run_comes(house, house.seat.id))

        assert end.state == ENDED
        assert await house.lines() == [f"work: {SUM_UP}", "reply: two groups"]
        assert user_texts(model.requests(Purpose.TURN)[0].body)[-1] == f"work: {SUM_UP}"
        assert house.seen.replies() == ["two groups"]


async def test_a_run_that_comes_again_is_not_taken_again(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        model.say("two groups")
        key = await run_comes(house, house.seat.id)
        await house.ended(key)

        assert await run_comes(house, house.seat.id) == key

        model.say("yes")
        await house.say("are you there?")
        assert [line for line in await house.lines() if SUM_UP in line] == [f"work: {SUM_UP}"]


async def test_a_childs_run_is_the_childs_and_what_it_ends_with_is_its_parents(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        says(house, "House", "The rooms are cold.")
        says(house, "", "I know")
        await run_comes(house, house.id_of("House"))
        await house.logged("work: [House] The rooms are cold.")

        assert (await house.lines("House"))[0] == f"work: {SUM_UP}"
        assert not [line for line in await house.lines() if SUM_UP in line]


@pytest.mark.parametrize("backed", [True, False])
async def test_the_user_stands_behind_a_run_as_far_as_behind_its_schedule(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, backed: bool
) -> None:
    sending = whatsapp_send()
    async with living(tmp_path, memory, model, far_tools=[sending]) as house:
        model.say(Answer(calls=(call("whatsapp_send", **send()),)), "done")
        await house.ended(await run_comes(house, house.seat.id, backed=backed))

        assert bool(sending.done) is backed
        assert [one.state for one in await listed(house)] == ([] if backed else [OPEN])


async def test_what_a_backed_run_tells_another_agent_is_backed_too(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        says(house, "", call("tell", name="House", message="air the rooms"), "told")
        says(house, "House", call("shell", command="echo aired > aired"), "")
        await house.ended(await run_comes(house, house.seat.id))
        await house.logged("echo: (no output)", "House")

        assert (tmp_path / "workspace" / "aired").exists()
        assert await listed(house) == []


async def test_an_unbacked_run_waits_for_the_users_turn_to_end_and_a_backed_one_joins_it(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        gate = model.hold(answer=Answer(calls=(call("date", id=0),)))
        mine = await house.deliver("which day is it?")
        await gate.reached()
        backed = await run_comes(house, house.seat.id, text="[Schedule 3] backed")
        source = {"source": "schedule:4", "key": "schedule:4:2027-01-20T17:00Z"}
        unbacked = await house.deliver(
            "[Schedule 4] not backed",
            caller="scheduler",
            to=house.seat.id,
            kind=delivery_pb2.DELIVERY_KIND_WORK,
            wakes_root=True,
            backed=False,
            **source,
        )
        model.say("a Friday", "the other")
        gate.open()

        first, second = await house.ended(mine), await house.ended(unbacked)

        assert [one.key for one in first.answered] == [mine, backed]
        assert [one.key for one in second.answered] == [unbacked]


async def test_a_run_for_a_child_that_is_gone_is_the_roots_and_says_whose_it_was(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """As happens to one that was on its way when the child's folder was taken away."""
    await house_opened_once(tmp_path, memory, model)
    take_house_away(tmp_path)
    async with living(tmp_path, memory, model) as house:
        model.say("I see to it")
        await house.ended(await run_comes(house, HOUSE))

        assert await house.lines() == [
            f"work: (This was for House, who is not there any more.)\n{SUM_UP}",
            "reply: I see to it",
        ]
