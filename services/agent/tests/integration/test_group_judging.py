"""The detectors' model call: small, structured, on the account of the group's agent, of its words alone."""

import json
from pathlib import Path
from typing import Any

import grpc
import pytest
from onechat.agent.v1 import addressed_pb2, agent_service_pb2, usage_pb2
from onechat_agent import sentences
from onechat_agent.domain.limits import Limits
from onechat_runtime.errors import RemoteError

from tests.fakes.agent_house import House, living
from tests.fakes.group_house import ANA, admit, admitted
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import FOR_EVER, Purpose, ScriptedModel, rate_limited, wrong_key

YES = json.dumps({"mentions": True, "command": False, "private": False})


async def judge(house: House, agent: str, text: str = "robo, when?", **fields: Any) -> Any:
    request = addressed_pb2.JudgeAddressedRequest(agent_id=agent, text=text, names=["robo"], **fields)
    return await house.stub("telegram").JudgeAddressed(request, timeout=25)


async def test_what_the_model_says_of_a_message_is_given_back(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say(YES, json.dumps({"mentions": False, "command": True, "private": True}))
    async with living(tmp_path, memory, model) as house:
        agent = (await admit(house)).agent_id

        first, second = await judge(house, agent), await judge(house, agent)

        assert (first.mentions, first.command, first.private) == (True, False, False)
        assert (second.mentions, second.command, second.private) == (False, True, True)
        assert model.refusals() == []


async def test_the_call_holds_the_message_and_those_before_it_and_nothing_that_any_agent_remembers(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house, admitted(house) as group:
        (tmp_path / "data/agent/agents/One/instructions.md").write_text("the owner's wishes")
        model.say("noted", "noted", YES)
        await house.say("the safe is 4711")
        await group.ask("we meet at the mill")
        await judge(house, group.agent.agent_id, before=["Ben: maybe", "you: the 14th"])

        body = model.requests(Purpose.TURN)[-1].body
        (asked,) = body["input"]
        assert json.loads(asked["content"][0]["text"]) == {
            "names": ["robo"],
            "before": ["Ben: maybe", "you: the 14th"],
            "message": "robo, when?",
        }
        assert "tools" not in body
        assert body["text"]["format"]["type"] == "json_schema"
        assert body["text"]["format"]["strict"] is True
        assert not any(word in json.dumps(body) for word in ("4711", "the mill", "wishes", "Group1"))


async def test_it_has_a_line_of_its_own_in_the_usage_and_is_in_no_log_and_no_event(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say(YES)
    async with living(tmp_path, memory, model) as house, admitted(house) as group:
        await judge(house, group.agent.agent_id)

        answer = await house.stub().GetUsage(agent_service_pb2.GetUsageRequest(), timeout=20)
        (line,) = answer.usage
        assert (line.agent, line.purpose, line.calls) == ("Group1", usage_pb2.USAGE_PURPOSE_MENTION, 1)
        shown = await house.stub().RunCommand(agent_service_pb2.RunCommandRequest(line="/usage"), timeout=20)
        assert "Group1 mention" in shown.answer
        assert await group.lines() == []
        assert group.seen.events() == []


@pytest.mark.parametrize("answer", ["I think so", "{}", ""])
async def test_an_answer_that_makes_no_sense_is_no_reason_to_break_in(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, answer: str
) -> None:
    model.say(answer)
    async with living(tmp_path, memory, model) as house:
        judged = await judge(house, (await admit(house)).agent_id)

        assert (judged.mentions, judged.command, judged.private) == (False, False, False)


async def test_a_model_that_cannot_be_asked_now_is_said_at_once_and_not_waited_for(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        agent = (await admit(house)).agent_id
        for fault in (rate_limited(retry_after_s=60), wrong_key()):
            model.fail(fault, times=FOR_EVER)

            with pytest.raises(RemoteError) as failed:
                await judge(house, agent)

            assert (failed.value.code, failed.value.reason) == (
                grpc.StatusCode.UNAVAILABLE,
                "MODEL_UNAVAILABLE",
            )
            model.clear()
        await house.seen.until(lambda seen: bool(seen.notices()))
        assert house.seen.notices() == [sentences.MODEL_KEY]


async def test_at_the_limit_of_the_day_the_model_is_not_asked(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say(YES)
    async with living(tmp_path, memory, model, limits=Limits(tokens_per_day=1)) as house:
        agent = (await admit(house)).agent_id
        await judge(house, agent)

        with pytest.raises(RemoteError) as failed:
            await judge(house, agent)

        assert failed.value.reason == "MODEL_UNAVAILABLE"
        assert len(model.requests()) == 1


async def test_the_demo_model_answers_members_and_judges_in_the_form_that_it_is_asked_for(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """Groups can be tried without a key: nothing here is scripted."""
    async with living(tmp_path, memory, model) as house, admitted(house) as group:
        await group.ask('2026-11-30 14:04 71 "Ana": hello')
        await group.ask('2026-11-30 14:05 71 "Ana": what did we say about the mill?', source=ANA)
        for_it = await judge(house, group.agent.agent_id, "robo, when?")
        not_for_it = await judge(house, group.agent.agent_id, "not now")

        hello, looked_up = group.seen.replies()
        assert hello.startswith("Demo model: Hello.")
        assert looked_up.startswith("Demo model: No line of the chat")
        assert (for_it.mentions, not_for_it.mentions) == (True, False)
        assert model.refusals() == []


async def test_only_a_groups_agent_judges(tmp_path: Path, memory: MemoryServer, model: ScriptedModel) -> None:
    async with living(tmp_path, memory, model) as house:
        for agent in ("", house.seat.id, "nobody"):
            with pytest.raises(RemoteError) as refused:
                await judge(house, agent)
            assert refused.value.reason == "AGENT_UNKNOWN"
        assert model.requests() == []
