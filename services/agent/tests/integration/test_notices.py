"""TellUser: what the gateway to WhatsApp has found out reaches every client once, and starts nothing."""

from pathlib import Path
from typing import Any

import pytest
from onechat.agent.v1 import agent_service_pb2
from onechat_runtime.errors import RemoteError

from tests.fakes.agent_house import House, living
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import ScriptedModel

LOST = "WhatsApp has been disconnected for ten minutes."


def tell(house: House, key: str, text: str = LOST, *, caller: str = "whatsapp") -> Any:
    request = agent_service_pb2.TellUserRequest(key=key, text=text)
    return house.stub(caller).TellUser(request, timeout=5)


async def test_a_notice_is_an_event_of_the_root_for_the_user_and_no_turn(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await tell(house, "lost:1", f"{LOST}\nTwo lines.")
        await house.seen.until(lambda seen: bool(seen.notices()))

        (event,) = house.seen.events("notice")
        assert event.notice.text == f"{LOST}\nTwo lines."
        assert (event.agent, event.audience, event.turn) == ("One", "user", "")
        assert model.requests() == []


async def test_a_known_key_tells_nothing_again_whatever_it_says_also_after_a_restart(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await tell(house, "lost:1")
        await tell(house, "lost:1")
    async with living(tmp_path, memory, model, after=0) as house:
        await tell(house, "lost:1", "other words")
        await tell(house, "lost:2", "another")
        await house.seen.until(lambda seen: "another" in seen.notices())

        assert house.seen.notices() == [LOST, "another"]


async def test_a_key_is_not_the_request_id_of_another_call(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await tell(house, "same")
        request = agent_service_pb2.StopTurnRequest(request_id="same")

        await house.stub().StopTurn(request, timeout=5)


@pytest.mark.parametrize(
    ("key", "text"),
    [("", LOST), ("k" * 201, LOST), ("schlüssel", LOST), ("k", ""), ("k", " \n"), ("k", "x" * 2_001)],
)
async def test_what_is_no_notice_is_refused_and_its_key_stays_free(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, key: str, text: str
) -> None:
    async with living(tmp_path, memory, model) as house:
        with pytest.raises(RemoteError) as refused:
            await tell(house, key, text)
        await tell(house, "k" * 200, "x" * 2_000)
        await tell(house, "k")

        assert refused.value.reason == "NOTICE_INVALID"
        await house.seen.until(lambda seen: seen.notices() == ["x" * 2_000, LOST])


async def test_nobody_else_tells_the_user_in_onechats_name(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        for caller in ("operator", "telegram", "scheduler", "agent"):
            with pytest.raises(RemoteError) as refused:
                await tell(house, "k", caller=caller)
            assert refused.value.reason == "CALLER_NOT_ALLOWED"
