"""A group's agent that cannot answer: members get a line, the owner learns why, the root goes on."""

from pathlib import Path

import pytest
from onechat.agent.v1 import agent_service_pb2, event_pb2, usage_pb2
from onechat_agent import sentences
from onechat_agent.domain.limits import Limits

from tests.fakes.agent_house import living
from tests.fakes.clock import ManualClock
from tests.fakes.group_house import admitted
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import (
    FOR_EVER,
    Answer,
    HttpFault,
    ScriptedModel,
    bad_request,
    call,
    wrong_key,
)

FAILED = event_pb2.TurnChange.STATE_FAILED
TOML_NAMES = ("OPENAI", "ONECHAT", "agent.toml", "key")


async def test_a_wrong_key_is_the_owners_affair_and_each_member_gets_a_line_all_the_same(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.fail(wrong_key(), times=FOR_EVER)
    async with living(tmp_path, memory, model) as house, admitted(house) as group:
        ends = [await group.ask("hello"), await group.ask("are you there?")]

        assert [end.state for end in ends] == [FAILED, FAILED]
        assert group.seen.notices() == [sentences.GROUP_NO_ANSWER] * 2
        notices = [event.notice for event in group.seen.events("notice")]
        assert all(notice.answered[0].reply_to.topic == "4" for notice in notices)
        assert house.seen.notices() == [sentences.MODEL_KEY]
        assert house.seen.events("notice")[0].agent == "Group1"


async def test_that_the_model_declined_is_said_in_its_words(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say(Answer(refusal="I would rather not."))
    async with living(tmp_path, memory, model) as house, admitted(house) as group:
        await group.ask("hello")

        assert group.seen.notices() == [sentences.MODEL_REFUSED.format(reason="I would rather not.")]
        assert house.seen.notices() == []


@pytest.mark.parametrize("fault", [bad_request("no such thing", code="odd")])
async def test_members_read_nothing_of_settings(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, fault: HttpFault
) -> None:
    model.fail(fault)
    async with living(tmp_path, memory, model) as house, admitted(house) as group:
        end = await group.ask("hello")

        assert group.seen.notices() == [sentences.GROUP_NO_ANSWER]
        assert not any(name in end.reason for name in TOML_NAMES)


async def test_a_group_has_a_limit_of_a_day_of_its_own(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """Its members are told in their words, the owner in theirs; the root goes on."""
    model.say("one")
    async with (
        living(tmp_path, memory, model, clock=ManualClock()) as house,
        admitted(house) as group,
    ):
        await group.ask("hello")
    limit = "tools = []\n[limits]\ntokens_per_day = 1\n"
    file = tmp_path / "data/agent/agents/Group1/agent.toml"
    file.write_text(file.read_text().replace("#tools = []", limit))
    async with (
        living(tmp_path, memory, model, clock=ManualClock()) as house,
        admitted(house) as group,
    ):
        await group.write("and now?")
        await group.seen.until(lambda seen: bool(seen.notices()))
        model.say("all is well")
        await house.say("and you?")

        assert group.seen.notices() == [sentences.GROUP_DAY_USED_UP]
        assert house.seen.notices() == [sentences.DAY_USED_UP]
        assert house.seen.replies() == ["all is well"]
        assert group.seen.replies() == []


async def test_a_group_has_lines_of_its_own_in_the_usage(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say("one", "two")
    async with living(tmp_path, memory, model) as house, admitted(house) as group:
        await group.ask("hello")
        await house.say("hello")

        answer = await house.stub().GetUsage(agent_service_pb2.GetUsageRequest(), timeout=20)
        turn = usage_pb2.USAGE_PURPOSE_TURN
        assert sorted((one.agent, one.purpose, one.calls) for one in answer.usage) == [
            ("Group1", turn, 1),
            ("One", turn, 1),
        ]


async def test_a_turn_of_a_group_that_meets_the_limit_of_the_day_ends_in_words_for_members(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.call(call("date", id=0))
    async with (
        living(tmp_path, memory, model, limits=Limits(tokens_per_day=1)) as house,
        admitted(house) as group,
    ):
        await group.ask("when?")

        assert group.seen.replies() == [sentences.GROUP_DAY_USED_UP]
        await house.seen.until(lambda seen: bool(seen.notices()))
        assert house.seen.notices() == [sentences.DAY_USED_UP]
