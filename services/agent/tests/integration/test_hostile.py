"""What no caller should send: nothing of it is an error of ours, and the agent still answers its user."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf import message_factory
from onechat.agent.v1 import agent_service_pb2
from onechat_runtime.errors import RemoteError

from tests.fakes.agent_house import House, living
from tests.fakes.hostile import TEXTS, Hostile
from tests.fakes.memory_server import remembering
from tests.fakes.scripted_model import ScriptedModel

CALLERS = ("operator", "operator", "telegram", "whatsapp", "scheduler")
KNOWN: dict[str, Any] = {
    "to": ("", "root", "gone"),
    "source": ("", "user", "whatsapp:1", "schedule:1", "telegram:2"),
    "text": ("hello", *TEXTS),
    "key": ("a", "b", *(f"k{number}" for number in range(400))),
    "kind": (0, 1, 2),
    "agent": ("", "One", "root", "one"),
    "agent_id": ("",),
    "audience": ("", "user", "*", "telegram:1"),
    "line": ("/help", "/usage", "/stop", "/stop all", "/stop One", "/yes 1", "/no", "//x", "/", *TEXTS),
    "request_id": ("", "r1", "r2", *(f"q{number}" for number in range(300))),
    "since_day": ("", "2026-01-01", "2026-W01-1", "0001-01-01", "9999-12-31", "x"),
    "until_day": ("", "2026-01-01", "9999-12-31"),
    "page_token": ("", "", "1", "-1", "9" * 30, "x", "\uff11"),
    "page_size": (0, 1, 1_000, -1),
    "group": ("", "", "g"),
    "group_count": (0, 2, 1, -1),
    "stream": ("", "x"),
    "number": (0, 1),
    "after": (0, 1, 5),
}
EXPECTED = {
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.ALREADY_EXISTS,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.OUT_OF_RANGE,
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.UNIMPLEMENTED,
}


async def test_a_hundred_hostile_requests_end_in_an_answer_or_a_reason(tmp_path: Path) -> None:
    """A short taste of the long run below."""
    await _attack(tmp_path, seed=0, requests=120)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 106))
async def test_many_hostile_requests_end_in_an_answer_or_a_reason(tmp_path: Path, seed: int) -> None:
    """No INTERNAL and no hang, whoever calls, and the queue goes on."""
    await _attack(tmp_path, seed, requests=1_500)


async def _attack(folder: Path, seed: int, requests: int) -> None:
    hostile = Hostile(seed, KNOWN)
    methods = agent_service_pb2.DESCRIPTOR.services_by_name["AgentService"].methods
    favoured = [one for one in methods if one.name in ("Deliver", "RunCommand", "Subscribe", "StopTurn")]
    async with (
        remembering(folder / "memory") as memory,
        ScriptedModel.serving() as model,
        living(folder, memory, model) as house,
    ):
        for _ in range(requests + 1):
            model.say("fine")
        for _ in range(requests):
            method = hostile.choice([*methods, *favoured * 3])
            request = hostile.request(message_factory.GetMessageClass(method.input_type))
            refused = await _refusal(house, hostile.choice(CALLERS), method, request)
            fine = refused is None or (refused.code in EXPECTED and refused.reason)
            assert fine, f"{method.name}: {refused!r}, seed {seed}, {str(request)[:500]}"

        await house.say("are you well?", key="the-last-one")
        assert house.seen.replies()[-1] == "fine"


async def _refusal(house: House, caller: str, method: Any, request: Any) -> RemoteError | None:
    """How the service refused `request`; None when it answered, or opened the stream that was asked for."""
    answer = getattr(house.stub(caller), method.name)(
        _one(request) if method.client_streaming else request, timeout=20
    )
    try:
        if method.server_streaming:
            async for _ in answer:
                break
            answer.cancel()
        else:
            await answer
    except RemoteError as refused:
        return refused
    return None


async def _one(request: Any) -> AsyncIterator[Any]:
    yield request
