"""`onechat whatsapp status` against a gateway's double; the fake agent service knows the routes."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from onechat.whatsapp.v1 import whatsapp_service_pb2 as v1
from onechat_cli.adapters.links import whatsapp_link
from onechat_cli.arguments import parser
from onechat_cli.commands.whatsapp import whatsapp as run_whatsapp
from onechat_cli.commands.whatsapp import zone_told
from onechat_cli.config import settings_from
from onechat_cli.outcome import CommandFailed, Exit

from tests.fakes.whatsapp_servicer import WhatsAppServicer, whatsapp_serving

ROME = ZoneInfo("Europe/Rome")
NOBODY = "127.0.0.1:9"
ANNA = "whatsapp:15550002222@s.whatsapp.net"


@pytest.fixture
def gateway():
    return WhatsAppServicer()


@pytest.fixture
def run(variables, gateway, capsys):
    """Runs `onechat whatsapp LINE`: its exit code, its stdout, its stderr."""

    async def ran(*line, **others):
        chosen = parser().parse_args(["whatsapp", *line])
        async with whatsapp_serving(gateway) as loopback:
            told = {**variables, "ONECHAT_WHATSAPP_ADDRESS": loopback.address, **others}
            code = await run_whatsapp(settings_from(told), chosen, ROME)
        return code, *capsys.readouterr()

    return ran


def at(hour):
    stamp = Timestamp()
    stamp.FromDatetime(datetime(2027, 1, 5, hour, 0, tzinfo=UTC))
    return stamp


async def test_a_link_that_is_well_is_shown_with_its_times_and_the_routes(gateway, agent, run):
    gateway.says = v1.GetStatusResponse(
        change_time=at(9),
        last_connect_time=at(9),
        last_disconnect_time=at(8),
        last_event_time=at(10),
        batches=2,
    )
    agent.routes[ANNA] = "House"

    code, out, err = await run("status")

    assert (code, err) == (Exit.OK, "")
    assert out.splitlines() == [
        "WhatsApp: connected since 2027-01-05 10:00",
        "last connected: 2027-01-05 10:00",
        "last disconnected: 2027-01-05 09:00",
        "last heard of: 2027-01-05 11:00",
        "batches on their way to the agent: 2",
        f"route: {ANNA} goes to House",
    ]


def test_times_are_told_in_the_zone_that_onechat_is_set_to():
    assert zone_told({"ONECHAT_TIME_ZONE": "Europe/Rome", "TZ": "Asia/Kathmandu"}) == ROME
    assert zone_told({"TZ": "Europe/Rome"}) == ROME


async def test_no_account_is_nothing_wrong_and_says_how_to_link_one(gateway, run):
    gateway.link = v1.LINK_STATE_NOT_LINKED

    code, out, _ = await run("status")

    assert code == Exit.OK
    assert out.splitlines() == [
        "WhatsApp: not linked",
        "Write /whatsapp pair and the account's number in the chat to link it.",
        "No chat is routed to a child.",
    ]


@pytest.mark.parametrize(
    ("state", "name"),
    [
        (v1.LINK_STATE_DISCONNECTED, "disconnected"),
        (v1.LINK_STATE_LOGGED_OUT, "logged out"),
        (v1.LINK_STATE_REPLACED, "replaced"),
        (v1.LINK_STATE_BANNED, "banned"),
        (v1.LINK_STATE_OUTDATED, "outdated"),
        (99, "state 99"),
    ],
)
async def test_a_lost_link_is_wrong_and_says_which(gateway, run, state, name):
    gateway.link = state
    gateway.says = v1.GetStatusResponse(trouble="Do\nthis.\x1b[2J", ban_end_time=at(20), undecryptable=3)

    code, out, _ = await run("status")

    assert code == Exit.WRONG
    lines = out.splitlines()
    assert lines[:3] == [f"WhatsApp: {name}", "Do this.␛[2J", "the ban ends: 2027-01-05 21:00"]
    assert "messages that could not be decrypted: 3" in lines


async def test_json_has_every_field(gateway, agent, run):
    gateway.says = v1.GetStatusResponse(change_time=at(9))
    agent.routes[ANNA] = "House"

    _, out, _ = await run("status", "--json")

    assert json.loads(out) == {
        "state": "connected",
        "lost": False,
        "since": "2027-01-05T09:00:00Z",
        "last_connect": None,
        "last_disconnect": None,
        "ban_end": None,
        "last_event": None,
        "batches": 0,
        "undecryptable": 0,
        "trouble": None,
        "routes": [{"source": ANNA, "agent": "House"}],
    }


async def test_without_the_agent_service_the_link_is_shown_and_the_routes_are_said_to_be_missing(run):
    code, out, err = await run("status", ONECHAT_AGENT_ADDRESS=NOBODY)
    _, document, _ = await run("status", "--json", ONECHAT_AGENT_ADDRESS=NOBODY)

    assert code == Exit.OK
    assert out.splitlines() == ["WhatsApp: connected"]
    assert "does not say which chats are routed" in err
    assert json.loads(document)["routes"] is None


async def test_a_gateway_that_is_away_is_told_with_what_to_do(run):
    with pytest.raises(CommandFailed, match=r"whatsapp service does not answer at .* `onechat up`"):
        await run("status", ONECHAT_WHATSAPP_ADDRESS=NOBODY)


async def test_every_route_of_a_long_list_is_shown(agent, run):
    agent.routes |= {f"whatsapp:{number:05}@s.whatsapp.net": "House" for number in range(1_100)}

    _, out, _ = await run("status")

    assert out.count("goes to House") == 1_100


def test_the_command_ends_with_a_line_and_a_code_where_nothing_runs(tmp_path):
    environment = {**os.environ, "ONECHAT_DATA": str(tmp_path), "ONECHAT_WHATSAPP_ADDRESS": NOBODY}

    ended = subprocess.run(
        [sys.executable, "-m", "onechat_cli", "whatsapp", "status"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert ended.returncode in (Exit.WRONG, Exit.REFUSED)
    assert ended.stdout == ""
    assert len(ended.stderr.splitlines()) == 1


async def test_onechat_status_says_what_waits_and_what_could_not_be_read(gateway):
    gateway.says = v1.GetStatusResponse(batches=1, undecryptable=1)
    async with whatsapp_serving(gateway) as loopback:
        report = await whatsapp_link(loopback.channel("operator"))

    assert (report.state, report.lost) == ("connected", False)
    assert report.said == ("batches on their way to the agent: 1", "messages that could not be decrypted: 1")
