"""What the agent service counts on of WhatsApp's link: the real gateway and its double pass this.

The real one speaks to an account that is played. Finding and sending: test_whatsapp_gateways_alike.py.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from onechat.whatsapp.v1 import whatsapp_service_pb2 as v1
from onechat.whatsapp.v1 import whatsapp_service_pb2_grpc
from onechat_runtime.errors import RemoteError

from tests.fakes.agent_servicer import AgentServicer, agent_serving
from tests.fakes.whatsapp_account import WhatsAppAccount
from tests.fakes.whatsapp_gateway_bench import GatewayBench
from tests.fakes.whatsapp_servicer import WhatsAppServicer, whatsapp_serving

CALL_S = 10.0
PHONE = "+1 (555) 000-1111"


@dataclass(kw_only=True)
class Gateway:
    """One without a link."""

    stub: Any
    type_code: Callable[[], None]  #: the user types the code in
    drop: Callable[[], None]  #: the connection is lost
    digits: Callable[[], list[str]]  #: of the numbers that codes were asked for

    async def pair(self, phone: str = PHONE, *, request_id: str = "") -> v1.PairResponse:
        request = v1.PairRequest(phone=phone, request_id=request_id)
        answer: v1.PairResponse = await self.stub.Pair(request, timeout=CALL_S)
        return answer

    async def unlink(self, *, request_id: str = "") -> bool:
        answer = await self.stub.Unlink(v1.UnlinkRequest(request_id=request_id), timeout=CALL_S)
        return bool(answer.told)

    async def until(self, link: int) -> v1.GetStatusResponse:
        """The status once the link is so."""
        while True:
            status: v1.GetStatusResponse = await self.stub.GetStatus(v1.GetStatusRequest(), timeout=CALL_S)
            if status.link == link:
                return status


@pytest.fixture(params=["service", "double"])
async def gateway(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Gateway]:
    async with AsyncExitStack() as stack:
        if request.param == "double":
            double = WhatsAppServicer(link=v1.LINK_STATE_NOT_LINKED)
            loopback = await stack.enter_async_context(whatsapp_serving(double))
            yield Gateway(
                stub=whatsapp_service_pb2_grpc.WhatsAppServiceStub(loopback.channel("agent")),
                type_code=lambda: setattr(double, "link", v1.LINK_STATE_CONNECTED),
                drop=lambda: setattr(double, "link", v1.LINK_STATE_DISCONNECTED),
                digits=lambda: ["".join(filter(str.isdecimal, phone)) for phone in double.phones],
            )
            return
        agent = AgentServicer()
        loopback = await stack.enter_async_context(agent_serving(agent))
        bench = GatewayBench(tmp_path / "whatsapp", WhatsAppAccount(), agent, loopback.address)
        running = await stack.enter_async_context(bench.running())
        yield Gateway(
            stub=running.stub,
            type_code=bench.account.type_code,
            drop=bench.account.drop,
            digits=lambda: list(bench.account.phones),
        )


async def refusal(call: Any) -> str:
    with pytest.raises(RemoteError) as refused:
        await call
    assert refused.value.message, "a refusal says what is wrong"
    return refused.value.reason


async def test_a_code_links_the_account(gateway: Gateway) -> None:
    before = await gateway.until(v1.LINK_STATE_NOT_LINKED)
    code = await gateway.pair()
    gateway.type_code()
    await gateway.until(v1.LINK_STATE_CONNECTED)

    assert before.trouble == ""
    assert code.code
    assert code.HasField("expire_time")
    assert gateway.digits() == ["15550001111"]


async def test_the_same_request_gets_the_same_code_and_another_number_under_it_none(gateway: Gateway) -> None:
    first = await gateway.pair(request_id="c:1")

    assert await gateway.pair(request_id="c:1") == first
    assert await refusal(gateway.pair("+1 555 000 9999", request_id="c:1")) == "KEY_REUSED"
    assert len(gateway.digits()) == 1


@pytest.mark.parametrize("phone", ["", "Bob", "0347 1234567", "12345"])
async def test_what_is_no_number_in_international_form_is_refused(gateway: Gateway, phone: str) -> None:
    assert await refusal(gateway.pair(phone)) == "PHONE_INVALID"
    assert gateway.digits() == []


async def test_a_linked_account_is_not_paired_again(gateway: Gateway) -> None:
    await gateway.pair()
    gateway.type_code()
    await gateway.until(v1.LINK_STATE_CONNECTED)

    assert await refusal(gateway.pair()) == "LINKED_ALREADY"
    gateway.drop()
    await gateway.until(v1.LINK_STATE_DISCONNECTED)
    assert await refusal(gateway.pair()) == "LINKED_ALREADY"


async def test_a_second_pairing_waits_for_the_end_of_the_first(gateway: Gateway) -> None:
    await gateway.pair()

    assert await refusal(gateway.pair()) == "PAIRING_RUNS"


async def test_an_unlinking_tells_whatsapp_and_comes_once(gateway: Gateway) -> None:
    await gateway.pair()
    gateway.type_code()
    await gateway.until(v1.LINK_STATE_CONNECTED)
    first = await gateway.unlink(request_id="c:2")
    await gateway.until(v1.LINK_STATE_NOT_LINKED)
    await gateway.pair()
    gateway.type_code()
    await gateway.until(v1.LINK_STATE_CONNECTED)

    assert first is True
    assert await gateway.unlink(request_id="c:2") is True
    await gateway.until(v1.LINK_STATE_CONNECTED)


async def test_without_a_connection_whatsapp_is_not_told(gateway: Gateway) -> None:
    await gateway.pair()
    gateway.type_code()
    await gateway.until(v1.LINK_STATE_CONNECTED)
    gateway.drop()
    await gateway.until(v1.LINK_STATE_DISCONNECTED)

    assert await gateway.unlink() is False
    await gateway.until(v1.LINK_STATE_NOT_LINKED)


async def test_without_a_link_there_is_nothing_to_tell(gateway: Gateway) -> None:
    """Else the user would look on the phone for a device that is not there."""
    assert await gateway.unlink() is True
