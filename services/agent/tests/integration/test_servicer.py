"""The agent's door: who may say what, what is refused and why, pages, commands."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from onechat.agent.v1 import addressed_pb2, agent_service_pb2, delivery_pb2, event_pb2, kept_log_pb2
from onechat_agent.adapters import usage_rows
from onechat_agent.adapters.memory import Lease, MemoryClient
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.usage import Purpose
from onechat_agent.model.items import TokenUsage
from onechat_agent.servicer import ALLOW
from onechat_runtime.errors import RemoteError

from tests.fakes.agent_house import House, living
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import Answer, ScriptedModel

CALLERS = ("operator", "telegram", "whatsapp", "scheduler", "agent")
USER, WORK = delivery_pb2.DELIVERY_KIND_USER, delivery_pb2.DELIVERY_KIND_WORK


@pytest.fixture
async def house(tmp_path: Path, memory: MemoryServer, model: ScriptedModel) -> AsyncIterator[House]:
    async with living(tmp_path, memory, model) as running:
        yield running


async def refusal(call: Any) -> str:
    with pytest.raises(RemoteError) as refused:
        await call
    return refused.value.reason


async def command(house: House, line: str) -> str:
    request = agent_service_pb2.RunCommandRequest(line=line)
    return str((await house.stub().RunCommand(request, timeout=20)).answer)


def deliver(house: House, *deliveries: dict[str, object], caller: str = "operator") -> Any:
    request = agent_service_pb2.DeliverRequest(
        deliveries=[delivery_pb2.NewDelivery(**one) for one in deliveries]  # type: ignore[arg-type]
    )
    return house.stub(caller).Deliver(request, timeout=20)


async def listed(house: House, **fields: object) -> Any:
    request = agent_service_pb2.ListDeliveriesRequest(**fields)  # type: ignore[arg-type]
    return await house.stub().ListDeliveries(request, timeout=20)


async def test_each_call_has_a_list_of_callers_and_refuses_the_others(house: House) -> None:
    methods = {
        method.name for method in agent_service_pb2.DESCRIPTOR.services_by_name["AgentService"].methods
    }
    assert set(ALLOW) == methods

    for caller in CALLERS:
        stub = house.stub(caller)
        for method, request in (
            ("ListDeliveries", agent_service_pb2.ListDeliveriesRequest()),
            ("RunCommand", agent_service_pb2.RunCommandRequest(line="/help")),
            ("StopTurn", agent_service_pb2.StopTurnRequest()),
            ("GetUsage", agent_service_pb2.GetUsageRequest()),
        ):
            call = getattr(stub, method)(request, timeout=20)
            if caller in ALLOW[method]:
                await call
            else:
                assert await refusal(call) == "CALLER_NOT_ALLOWED", (caller, method)


async def test_only_the_users_own_clients_see_the_events(house: House) -> None:
    """They hold what the user says; the gateway to WhatsApp must not read that."""
    for caller in ("whatsapp", "scheduler", "agent"):
        stream = house.stub(caller).Subscribe(agent_service_pb2.SubscribeRequest(), timeout=20)
        assert await refusal(stream.read()) == "CALLER_NOT_ALLOWED"


SPEAKS_AS_THE_USER: Any = [
    ("whatsapp", {"source": "whatsapp:1@s", "backed": True}),
    ("whatsapp", {"source": "user"}),
    ("whatsapp", {}),
    ("whatsapp", {"source": "telegram:1"}),
    ("whatsapp", {"source": "whatsapp:1@s", "kind": USER}),
    ("telegram", {"source": "whatsapp:1@s"}),
    ("telegram", {"source": "telegram:-100", "backed": True}),
    ("telegram", {"source": "telegram:-100", "kind": USER}),
    ("scheduler", {"source": "user"}),
    ("scheduler", {"source": "schedule:1", "kind": USER}),
    ("operator", {"source": "whatsapp:1@s", "backed": True}),
]


async def test_nobody_speaks_as_the_user_who_may_not(house: House) -> None:
    for caller, fields in SPEAKS_AS_THE_USER:
        call = deliver(house, {"key": "k", "text": "send me everything", **fields}, caller=caller)
        assert await refusal(call) == "BACKING_NOT_ALLOWED", (caller, fields)

    assert not (await listed(house)).deliveries


@pytest.mark.parametrize(
    ("caller", "fields"),
    [
        ("telegram", {"backed": True}),
        ("whatsapp", {"source": "whatsapp:1@s"}),
        ("scheduler", {"source": "schedule:1", "backed": True}),
    ],
)
async def test_each_gateway_hands_over_what_is_its_own(
    house: House, caller: str, fields: dict[str, object]
) -> None:
    answer = await deliver(house, {"key": "k", "text": "hello", **fields}, caller=caller)

    assert answer.deliveries[0].state == delivery_pb2.DELIVERY_STATE_QUEUED
    assert answer.deliveries[0].kind == (WORK if "source" in fields else USER)


CANNOT_BE_TAKEN: Any = [
    {"key": ""},
    {"key": "a\nb"},
    {"text": " "},
    {"text": "x" * 2_000_001},
    {"source": "whatsapp:"},
    {"source": "mail:1"},
    {"source": "user:1"},
    {"source": "whatsapp:a b"},
    {"source": "whatsapp:a\0"},
    {"source": f"whatsapp:{'1' * 200}"},
    {"images": [""]},
    {"images": ["x"] * 101},
    {"to": "x" * 201},
    {"group": "g"},
    {"reply_to": {"chat": "c" * 201}},
    {"time": {"seconds": 10**15}},
    {"time": {"seconds": -(10**15)}},
    {"time": {"seconds": -1}},
]


async def test_what_cannot_be_taken_is_refused_whole(house: House) -> None:
    """One bad delivery of a call: nothing of it is stored."""
    good = {"key": "good", "text": "hello"}
    for fields in CANNOT_BE_TAKEN:
        call = deliver(house, good, {"key": "k", "text": "hi", **fields})
        assert await refusal(call) == "DELIVERY_INVALID", str(fields)[:100]

    assert not (await listed(house)).deliveries


async def test_a_call_takes_1_to_256_deliveries(house: House) -> None:
    many = [{"key": f"k{number}", "text": "x", "source": "whatsapp:1@s"} for number in range(257)]

    assert await refusal(deliver(house)) == "TOO_MANY_DELIVERIES"
    assert await refusal(deliver(house, *many)) == "TOO_MANY_DELIVERIES"
    assert len((await deliver(house, *many[:256])).deliveries) == 256


async def test_a_key_that_was_used_for_something_else_refuses_the_whole_call(house: House) -> None:
    quiet = {"source": "whatsapp:1@s"}
    await deliver(house, {"key": "one", "text": "first", **quiet})
    events = len(house.seen.events())
    call = deliver(house, {"key": "two", "text": "x", **quiet}, {"key": "one", "text": "other", **quiet})

    assert await refusal(call) == "KEY_REUSED"
    assert [one.key for one in (await listed(house)).deliveries] == ["one"]
    assert len(house.seen.events("outside_message")) == max(events, 1)


async def test_nul_and_surrogates_are_replaced_at_the_door(house: House, model: ScriptedModel) -> None:
    model.say("fine")
    end = await house.say("a\0b")

    assert end.state == event_pb2.TurnChange.STATE_ENDED
    assert (await house.lines())[0] == "user: a\ufffdb"


async def test_deliveries_are_listed_in_pages_newest_first(house: House) -> None:
    for number in range(5):
        await house.deliver(f"m{number}", caller="whatsapp", source="whatsapp:1@s", key=f"k{number}")
    pages: list[Sequence[str]] = []
    token = ""
    while True:
        answer = await listed(house, page_size=2, page_token=token)
        pages.append([one.key for one in answer.deliveries])
        token = answer.next_page_token
        if not token:
            break

    assert pages == [["k4", "k3"], ["k2", "k1"], ["k0"]]
    assert [one.key for one in (await listed(house, key="k3")).deliveries] == ["k3"]
    assert not (await listed(house, agent_id="nobody")).deliveries


CANNOT_BE_ANSWERED: Any = [
    ("ListDeliveries", agent_service_pb2.ListDeliveriesRequest(page_size=-1), "BAD_PAGE"),
    ("ListDeliveries", agent_service_pb2.ListDeliveriesRequest(page_token="x"), "BAD_PAGE"),
    ("ListDeliveries", agent_service_pb2.ListDeliveriesRequest(page_token="٣"), "BAD_PAGE"),
    ("ListAgents", agent_service_pb2.ListAgentsRequest(page_size=1001), "BAD_PAGE"),
    ("ListRoutes", agent_service_pb2.ListRoutesRequest(page_size=-5), "BAD_PAGE"),
    ("ListProposals", agent_service_pb2.ListProposalsRequest(page_size=-5), "BAD_PAGE"),
    ("GetUsage", agent_service_pb2.GetUsageRequest(page_token="-1"), "BAD_PAGE"),
    ("GetUsage", agent_service_pb2.GetUsageRequest(since_day="yesterday"), "BAD_DAY"),
    ("GetUsage", agent_service_pb2.GetUsageRequest(until_day="2026-W01-1"), "BAD_DAY"),
    ("StopTurn", agent_service_pb2.StopTurnRequest(agent="Nobody"), "AGENT_UNKNOWN"),
    ("GetAgent", agent_service_pb2.GetAgentRequest(agent="Nobody"), "AGENT_UNKNOWN"),
    ("AnswerProposal", agent_service_pb2.AnswerProposalRequest(number=1), "PROPOSAL_UNKNOWN"),
    ("CreateGroupAgent", agent_service_pb2.CreateGroupAgentRequest(), "GROUP_INVALID"),
    ("JudgeAddressed", addressed_pb2.JudgeAddressedRequest(), "AGENT_UNKNOWN"),
    ("ResetAgentLog", kept_log_pb2.ResetAgentLogRequest(), "AGENT_UNKNOWN"),
    ("ListKeptLogs", kept_log_pb2.ListKeptLogsRequest(), "NOT_SERVED_YET"),
]


async def test_what_cannot_be_answered_says_its_reason(house: House) -> None:
    for method, request, reason in CANNOT_BE_ANSWERED:
        with pytest.raises(RemoteError) as refused:
            await getattr(house.stub(), method)(request, timeout=20)

        assert refused.value.reason == reason, method
        assert refused.value.message.endswith("."), method


async def test_the_root_is_listed_with_what_it_does(house: House) -> None:
    (root,) = (await house.stub().ListAgents(agent_service_pb2.ListAgentsRequest(), timeout=20)).agents
    seen = await house.stub().GetAgent(agent_service_pb2.GetAgentRequest(agent=root.agent_id), timeout=20)

    assert (root.name, root.role, root.doing) == ("One", agent_service_pb2.AGENT_ROLE_ROOT, "idle")
    assert (seen.agent.agent_id, seen.messages) == (house.seat.id, 0)


class MakesNoLog(MemoryClient):
    """A way to a memory that has not yet made what it was asked for."""

    def __init__(self, inner: MemoryClient) -> None:
        self._inner = inner

    async def create_log(self, log: AgentId, label: str) -> None:
        await asyncio.Event().wait()

    async def length(self, log: AgentId) -> tuple[int, int]:
        return await self._inner.length(log)

    async def lease(self, holder: str, pieces: int, wait_s: float) -> Lease:
        return await self._inner.lease(holder, pieces, wait_s)


async def test_an_agent_whose_log_is_still_to_be_made_has_no_messages(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """Just after the first start, or while the memory is away then."""
    async with living(tmp_path, memory, model, through=MakesNoLog) as house:
        request = agent_service_pb2.GetAgentRequest(agent=house.seat.id)

        assert (await house.stub().GetAgent(request, timeout=20)).messages == 0


async def test_usage_is_given_in_pages(house: House) -> None:
    for day in ("2026-01-01", "2026-01-02", "2026-01-03"):
        await house.store.write(
            lambda db, day=day: usage_rows.count(
                db,
                day=day,
                agent=house.seat.id,
                model="m",
                purpose=Purpose.TURN,
                tokens=TokenUsage(input=10, cached_input=5, output=2),
                cost_millionths=None,
            )
        )
    days, token = [], ""
    while not days or token:
        request = agent_service_pb2.GetUsageRequest(
            since_day="2026-01-01", until_day="2026-01-03", page_size=2, page_token=token
        )
        answer = await house.stub().GetUsage(request, timeout=20)
        token = answer.next_page_token
        days += [one.day for one in answer.usage]
        assert not answer.usage[0].HasField("cost_millionths"), "unknown, not zero"

    assert days == ["2026-01-03", "2026-01-02", "2026-01-01"]


async def test_commands_answer_and_are_neither_logged_nor_shown_to_a_model(
    house: House, model: ScriptedModel
) -> None:
    model.say(Answer(text="hello"))
    helped = await command(house, "/help")
    mistyped = await command(house, "/stpo")

    assert helped.startswith("/stop")
    assert mistyped == f"There is no command /stpo.\n{helped}"
    assert await command(house, "/agents") == "One (root): idle, 0 waiting, no turn yet"
    assert await command(house, "/stop") == "Nothing is at work."
    assert await command(house, "/STOP@bot all") == "Nothing is at work."
    assert await command(house, "/stop Nobody") == "There is no agent Nobody. /agents lists them."
    assert len(await command(house, f"/stop {'x' * 100_000}")) < 100
    assert len(await command(house, f"/{'x' * 100_000}")) < 100 + len(helped)
    assert await command(house, "/usage") == "No model calls in these days."
    assert "does not answer" in await command(house, "/whatsapp pair 15550001111")
    await house.say("hi")
    assert await house.lines() == ["user: hi", "reply: hello"]
    assert "/stpo" not in str(model.requests()[-1].body["input"])
    assert [one.command.line for one in house.seen.responses if one.HasField("command")][:2] == [
        "/help",
        "/stpo",
    ]
    assert "One turn (demo): 1 call," in await command(house, "/usage")


async def test_any_other_line_is_a_message(house: House) -> None:
    for line in ("/etc/hosts", "hello", "/", "//help", "/2026 plan", ""):
        assert await refusal(command(house, line)) == "NOT_A_COMMAND", line


async def test_a_delivery_keeps_the_time_it_was_written_at(house: House, model: ScriptedModel) -> None:
    model.say("ok")
    written = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    new = delivery_pb2.NewDelivery(key="k", text="late", backed=True)
    new.time.FromDatetime(written)
    await house.stub().Deliver(agent_service_pb2.DeliverRequest(deliveries=[new]), timeout=20)
    await house.ended("k")

    assert (await house.log())[0].time.ToDatetime(tzinfo=UTC) == written
