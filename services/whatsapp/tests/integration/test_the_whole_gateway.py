"""The gateway as it is wired: from a pairing to a message read, a message sent, and an unlinking."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from onechat.whatsapp.v1 import whatsapp_service_pb2 as v1
from onechat_runtime.errors import RemoteError

from tests.fakes.agent_servicer import AgentServicer, agent_serving
from tests.fakes.whatsapp_account import CODE, WhatsAppAccount
from tests.fakes.whatsapp_desk import account_of_ann
from tests.fakes.whatsapp_gateway_bench import GatewayBench
from tests.fakes.whatsapp_scripts import BOB, GARDEN, heard, mention, own

CALL_S = 10.0


@pytest.fixture
def account() -> WhatsAppAccount:
    return account_of_ann()


@pytest.fixture
async def bench(tmp_path: Path, account: WhatsAppAccount) -> AsyncIterator[GatewayBench]:
    agent = AgentServicer()
    async with agent_serving(agent) as loopback:
        yield GatewayBench(tmp_path / "whatsapp", account, agent, loopback.address)


async def test_what_bob_writes_comes_to_the_agent_once_and_wakes_it(bench):
    async with bench.running() as running:
        await running.until(lambda: running.gateway.link.link.connected)
        bench.account.come(heard("hello", at_s=1, message_id="1"), heard("hello", at_s=1, message_id="1"))
        await running.turned_until(lambda: bool(bench.agent.deliveries))

        [delivery] = running.deliveries
        assert delivery.source == f"whatsapp:{BOB}"
        assert delivery.wakes_root
        assert not delivery.backed
        assert delivery.text.splitlines()[0].startswith("[WhatsApp]")
        assert delivery.text.count("hello") == 1
        assert "Bob Builder" in delivery.text


async def test_what_the_user_writes_wakes_nobody_and_a_mention_in_a_group_does(bench):
    async with bench.running() as running:
        await running.until(lambda: running.gateway.link.link.connected)
        bench.account.come(own("on my way"), mention())
        await running.turned_until(lambda: len(bench.agent.deliveries) == 2)

        wakes = {delivery.source: delivery.wakes_root for delivery in running.deliveries}
        assert wakes == {f"whatsapp:{BOB}": False, f"whatsapp:{GARDEN}": True}
        texts = [delivery.text for delivery in running.deliveries]
        assert all("5550001111" not in text for text in texts)
        assert any("@you" in text for text in texts)


async def test_what_came_meanwhile_comes_as_one_group(bench):
    bench.account.come(*(heard(f"message {number}", at_s=-number, chat=BOB) for number in range(3)))
    bench.account.come(mention(at_s=-5))
    async with bench.running() as running:
        await running.turned_until(lambda: len(bench.agent.deliveries) == 2)

        assert {delivery.group for delivery in running.deliveries} == {running.deliveries[0].group}
        assert {delivery.group_count for delivery in running.deliveries} == {2}
        assert running.deliveries[0].group


async def test_a_pairing_reads_finds_and_sends_and_an_unlinking_ends_all_of_it(bench):
    bench.account.me = None
    async with bench.running() as running:
        with pytest.raises(RemoteError, match="NOT_LINKED"):
            await running.stub.FindChats(v1.FindChatsRequest(name="bob"), timeout=CALL_S)
        paired = await running.stub.Pair(v1.PairRequest(phone="+1 555 000 1111"), timeout=CALL_S)
        bench.account.type_code()
        await running.until(lambda: running.gateway.link.link.connected)
        found = await running.stub.FindChats(v1.FindChatsRequest(name="bob b"), timeout=CALL_S)
        sent = await running.stub.SendMessage(
            iter([v1.SendMessageRequest(header=v1.SendHeader(request_id="1", chat_id=BOB, text="hi"))]),
            timeout=CALL_S,
        )
        unlinked = await running.stub.Unlink(v1.UnlinkRequest(request_id="2"), timeout=CALL_S)
        status = await running.stub.GetStatus(v1.GetStatusRequest(), timeout=CALL_S)
        await running.until(lambda: bool(bench.agent.told))

        assert paired.code == CODE
        assert [chat.chat_id for chat in found.chats] == [BOB]
        assert sent.send.state == v1.SEND_STATE_SENT
        assert [(each.chat, each.text) for each in bench.account.sent] == [(BOB, "hi")]
        assert unlinked.told
        assert (status.link, status.batches) == (v1.LINK_STATE_NOT_LINKED, 0)
        assert [text[:19] for text in bench.agent.told.values()] == ["WhatsApp is linked."]


@pytest.mark.parametrize("fault", ["429: rate-overlimit", "400: bad-request"])
async def test_a_code_that_is_refused_was_asked_for_once(bench, fault):
    """A channel tries again by itself where a service is not ready; WhatsApp shuts out who asks so often."""
    bench.account.me = None
    bench.account.pairing_fault = fault
    async with bench.running() as running:
        for request_id in ("1", ""):
            with pytest.raises(RemoteError, match="NOT_CONNECTED"):
                await running.stub.Pair(
                    v1.PairRequest(phone="+1 555 000 1111", request_id=request_id), timeout=CALL_S
                )

        assert bench.account.phones == ["15550001111"] * 2
        assert bench.account.dials == 2


async def test_a_notice_is_heard_once_though_the_agent_was_away_and_its_answer_lost(bench):
    async with bench.running() as running:
        await running.until(lambda: running.gateway.link.link.connected)
        bench.agent.fail("TellUser", times=2)
        bench.agent.fail("TellUser", times=1, when="after")
        bench.account.replace()
        await running.turned_until(lambda: bench.agent.calls["TellUser"] >= 4)
        await running.until(lambda: running.gateway.outbox.waiting() == 0)

        assert len(bench.agent.told) == 1
    async with bench.running() as running:
        await running.until(lambda: running.gateway.link.link.connected)
        await running.until(lambda: len(bench.agent.told) == 2)

        assert list(bench.agent.told.values())[1] == "WhatsApp is connected again."


async def test_what_a_room_fails_at_is_told_and_the_rest_goes_on(bench):
    async with bench.running() as running:
        await running.until(lambda: running.gateway.link.link.connected)
        bench.account.emit(heard(None))
        bench.account.come(heard("hello"))
        await running.turned_until(lambda: bool(bench.agent.deliveries))

        assert "could not be dealt with" in running.board.troubles()["hearing"].sentence
        assert "hello" in running.deliveries[0].text


async def test_nothing_leaves_but_the_sends_that_were_asked_for(bench):
    """It observes: no receipt, no typing, no presence, no automatic answer."""
    async with bench.running() as running:
        await running.until(lambda: running.gateway.link.link.connected)
        bench.account.come(heard("hello"), mention(), own("hi"))
        await running.turned_until(lambda: len(bench.agent.deliveries) == 2)
        bench.account.drop()
        bench.account.take_up()
        await running.turned_until(lambda: running.gateway.link.link.connected)

    assert bench.account.sent == []
