"""/whatsapp: a code for a number, how the link is, the end of it; and nothing of it is kept here."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from onechat.agent.v1 import agent_service_pb2
from onechat.whatsapp.v1 import whatsapp_service_pb2 as v1
from onechat_agent import whatsapp_words
from onechat_runtime.errors import RemoteError

from tests.fakes.agent_house import House, living
from tests.fakes.agent_talk import make_child, says
from tests.fakes.clock import ManualClock
from tests.fakes.memory_server import MemoryServer
from tests.fakes.proposal_talk import command
from tests.fakes.scripted_model import ScriptedModel, call
from tests.fakes.whatsapp_servicer import CODE, WhatsAppServicer, whatsapp_serving

PHONE = "+39 (333) 918-2746"
ANNA = "whatsapp:15550002222@s.whatsapp.net"
NOON = datetime(2027, 1, 5, 11, 0, tzinfo=UTC)  # in Rome


@pytest.fixture
def gateway() -> WhatsAppServicer:
    return WhatsAppServicer(clock=ManualClock(NOON), link=v1.LINK_STATE_NOT_LINKED)


@pytest.fixture
async def house(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, gateway: WhatsAppServicer
) -> AsyncIterator[House]:
    async with (
        whatsapp_serving(gateway) as there,
        living(tmp_path, memory, model, whatsapp=there) as running,
    ):
        yield running


def at(hour: int, minute: int = 0) -> Timestamp:
    stamp = Timestamp()
    stamp.FromDatetime(datetime(2027, 1, 5, hour, minute, tzinfo=UTC))
    return stamp


async def test_a_number_gets_a_code_with_its_end_and_where_it_is_typed_in(
    house: House, gateway: WhatsAppServicer
) -> None:
    answer = await command(house, f"/whatsapp pair {PHONE}")

    first, *where = answer.splitlines()
    assert first == f"The code is {CODE}, good until 2027-01-05 12:02."
    assert "Linked devices" in where[0]
    assert gateway.phones == [PHONE]


async def test_the_same_request_asks_for_one_code(house: House, gateway: WhatsAppServicer) -> None:
    first = await command(house, f"/whatsapp pair {PHONE}", request_id="telegram:1")
    again = await command(house, f"/whatsapp pair {PHONE}", request_id="telegram:1")

    assert again == first
    assert len(gateway.phones) == 1
    with pytest.raises(RemoteError) as refused:
        await command(house, "/whatsapp pair +1 555 000 3333", request_id="telegram:1")
    assert refused.value.reason == "KEY_REUSED"


async def test_neither_the_number_nor_the_code_is_kept_logged_or_shown_to_a_model(
    house: House,
    model: ScriptedModel,
    gateway: WhatsAppServicer,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    says(house, "", "hello")
    await command(house, f"/whatsapp pair {PHONE}")
    gateway.link = v1.LINK_STATE_CONNECTED
    await command(house, f"/whatsapp pair {PHONE}")
    await command(house, f"/whatsap pair {PHONE}")
    await house.say("hello")
    await house.seen.until(lambda seen: any(one.HasField("command") for one in seen.responses))

    stored = b"".join(path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file())
    asked = "".join(str(record.body) for record in model.requests())
    logged = "".join(capfd.readouterr())
    assert "RunCommand" in logged
    for secret in (PHONE, "9182746", "918-2746", CODE):
        assert secret.encode() not in stored
        assert secret not in logged
        assert secret not in asked
    assert not any(PHONE in line for line in await house.lines())


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/whatsapp", "/whatsapp pair +39 333 123 4567"),
        ("/whatsapp pair", "/whatsapp pair +39 333 123 4567"),
        ("/whatsapp status please", "/whatsapp pair +39 333 123 4567"),
        ("/whatsapp unpair", "/whatsapp pair +39 333 123 4567"),
        ("/whatsapp pair 12", "international form"),
        ("/whatsapp-pair +39 333 123 4567", "/whatsapp pair +39 333 123 4567"),
        ("/WhatsApp, pair +39 333 123 4567", "/whatsapp pair +39 333 123 4567"),
        ("/WhatsApp PAIR +39 333 123 4567", CODE),
        ("/whatsapp  pair\n+39 333 123 4567\n", CODE),
    ],
)
async def test_what_is_typed_is_answered_with_what_to_do(house: House, line: str, said: str) -> None:
    assert said in await command(house, line)


async def test_a_pairing_over_a_link_is_refused_in_the_gateways_words(
    house: House, gateway: WhatsAppServicer
) -> None:
    gateway.link = v1.LINK_STATE_CONNECTED

    assert "/whatsapp unlink" in await command(house, f"/whatsapp pair {PHONE}")


async def test_the_end_of_a_link_says_whether_the_phone_has_to_do_the_rest(
    house: House, gateway: WhatsAppServicer
) -> None:
    gateway.link = v1.LINK_STATE_CONNECTED
    told = await command(house, "/whatsapp unlink")
    gateway.link = v1.LINK_STATE_DISCONNECTED
    here = await command(house, "/whatsapp unlink")

    assert told == "WhatsApp is not linked any more, and nothing of its session is left here."
    assert "Remove the device on the phone" in here


async def test_an_unlinking_that_comes_twice_ends_one_link(house: House, gateway: WhatsAppServicer) -> None:
    gateway.link = v1.LINK_STATE_DISCONNECTED
    first = await command(house, "/whatsapp unlink", request_id="telegram:2")
    gateway.link = v1.LINK_STATE_CONNECTED
    again = await command(house, "/whatsapp unlink", request_id="telegram:2")

    assert again == first
    assert gateway.link == v1.LINK_STATE_CONNECTED


def test_a_route_to_a_child_that_is_gone_says_who_gets_the_chat_now() -> None:
    lines = whatsapp_words.routes([(ANNA, "House", True), ("whatsapp:1-2@g.us", "Gone", False)], "One")

    assert lines.splitlines() == [
        "Routes:",
        "15550002222@s.whatsapp.net goes to House",
        "1-2@g.us was Gone's, who is not there any more: it comes to One",
    ]


STATES: Any = [
    (v1.LINK_STATE_NOT_LINKED, "No WhatsApp account is linked. /whatsapp pair PHONE links one."),
    (v1.LINK_STATE_CONNECTED, "WhatsApp is linked and connected, since 2027-01-05 10:00."),
    (v1.LINK_STATE_DISCONNECTED, "WhatsApp is linked and disconnected, since 2027-01-05 10:00."),
    (v1.LINK_STATE_LOGGED_OUT, "WhatsApp: logged out, since 2027-01-05 10:00."),
    (v1.LINK_STATE_REPLACED, "WhatsApp: replaced, since 2027-01-05 10:00."),
    (v1.LINK_STATE_BANNED, "WhatsApp: banned, since 2027-01-05 10:00."),
    (v1.LINK_STATE_OUTDATED, "WhatsApp: outdated, since 2027-01-05 10:00."),
    (99, "WhatsApp's link is in a state that this version does not know, since 2027-01-05 10:00."),
]


@pytest.mark.parametrize(("state", "said"), STATES)
async def test_the_status_says_how_the_link_is_and_since_when(
    house: House, gateway: WhatsAppServicer, state: Any, said: str
) -> None:
    gateway.link, gateway.says = state, v1.GetStatusResponse(change_time=at(9))

    assert (await command(house, "/whatsapp status")).startswith(said)


async def test_the_status_has_all_times_what_is_wrong_and_what_waits(
    house: House, gateway: WhatsAppServicer
) -> None:
    gateway.link = v1.LINK_STATE_BANNED
    gateway.says = v1.GetStatusResponse(
        change_time=at(9),
        last_connect_time=at(8),
        last_disconnect_time=at(9),
        ban_end_time=at(20, 30),
        last_event_time=at(8, 59),
        batches=3,
        undecryptable=2,
        trouble="Wait until the ban ends.",
    )

    assert (await command(house, "/whatsapp status")).splitlines() == [
        "WhatsApp: banned, since 2027-01-05 10:00.",
        "Wait until the ban ends.",
        "The ban ends: 2027-01-05 21:30.",
        "Last connected: 2027-01-05 09:00.",
        "Last disconnected: 2027-01-05 10:00.",
        "Last heard of: 2027-01-05 09:59.",
        "Batches of messages on their way to the agent: 3.",
        "Messages that could not be decrypted: 2.",
        "No chat is routed: all of them come to One.",
    ]


async def test_what_is_wrong_with_a_link_that_is_there_stands_under_it(
    house: House, gateway: WhatsAppServicer
) -> None:
    gateway.link, gateway.says = v1.LINK_STATE_CONNECTED, v1.GetStatusResponse(trouble="It is silent.")

    assert (await command(house, "/whatsapp status")).splitlines()[:2] == [
        "WhatsApp is linked and connected.",
        "It is silent.",
    ]


async def test_the_status_lists_the_routes_also_while_the_gateway_is_away(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        says(house, "", call("route", source=ANNA, agent="House"), "routed")
        await house.say("route Anna to House")

        lines = (await command(house, "/whatsapp status")).splitlines()

        assert lines[0].startswith("The WhatsApp service does not answer.")
        assert lines[1:] == ["Routes:", "15550002222@s.whatsapp.net goes to House"]
        assert (await command(house, f"/whatsapp pair {PHONE}")).startswith("The WhatsApp service does not")


async def test_only_the_users_own_clients_may_pair(house: House, gateway: WhatsAppServicer) -> None:
    request = agent_service_pb2.RunCommandRequest(line=f"/whatsapp pair {PHONE}")
    for caller in ("whatsapp", "scheduler", "agent"):
        with pytest.raises(RemoteError) as refused:
            await house.stub(caller).RunCommand(request, timeout=5)
        assert refused.value.reason == "CALLER_NOT_ALLOWED"
    assert gateway.phones == []
