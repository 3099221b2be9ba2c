"""`onechat schedules` against a real scheduler; the fake agent service knows the root, One, alone."""

import asyncio
import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from onechat.scheduler.v1 import scheduler_service_pb2 as v1
from onechat.scheduler.v1 import scheduler_service_pb2_grpc
from onechat_cli.arguments import parser
from onechat_cli.commands.schedules import schedules
from onechat_cli.config import settings_from
from onechat_cli.outcome import CommandFailed, Exit
from onechat_runtime.errors import RemoteError
from onechat_runtime.listening import Served
from onechat_runtime.store import Store, migrations_in
from onechat_scheduler.__main__ import MIGRATIONS
from onechat_scheduler.book import Book
from onechat_scheduler.servicer import ALLOW, DESCRIPTOR, SchedulerServicer

from tests.fakes.agent_clients import ROOT
from tests.fakes.clock import ManualClock
from tests.fakes.loopback import serving

NOBODY = "127.0.0.1:9"
ROME = "Europe/Rome"


@pytest.fixture
def clock():
    return ManualClock(datetime(2027, 1, 4, 12, tzinfo=UTC))


@pytest.fixture
async def scheduler(tmp_path, clock):
    """The scheduler's door and its store, without what runs behind it: nothing is handed over."""
    path = tmp_path / "scheduler" / "store.db"
    async with Store.open(
        path, component="scheduler", migrations=migrations_in(MIGRATIONS), clock=clock
    ) as store:
        servicer = SchedulerServicer(Book(store, clock, ZoneInfo(ROME), lambda: None))
        door = Served(
            descriptor=DESCRIPTOR,
            add=lambda server: scheduler_service_pb2_grpc.add_SchedulerServiceServicer_to_server(
                servicer, server
            ),
            allow=ALLOW,
        )
        async with serving(door, name="scheduler") as loopback:
            yield loopback


@pytest.fixture
def stub(scheduler):
    return scheduler_service_pb2_grpc.SchedulerServiceStub(scheduler.channel("agent"))


@pytest.fixture
def set_one(stub):
    """Sets a schedule of the root's, or of another owner; its id."""

    async def done(text="water the plants", *, owner=ROOT, backed=True, **when):
        request = v1.CreateScheduleRequest(
            owner_id=owner, text=text, backed=backed, **(when or {"at": "2027-01-05 18:00"})
        )
        return (await stub.CreateSchedule(request, timeout=10)).schedule.schedule_id

    return done


@pytest.fixture
def run(variables, scheduler, clock, capsys):
    """Runs `onechat schedules LINE`: its exit code, its stdout, its stderr."""

    async def ran(*line, **others):
        chosen = parser().parse_args(["schedules", *map(str, line)])
        told = {**variables, "ONECHAT_SCHEDULER_ADDRESS": scheduler.address, **others}
        code = await schedules(settings_from(told), chosen, clock)
        return code, *capsys.readouterr()

    return ran


# List


async def test_all_owners_schedules_are_listed_by_next_time_with_their_names(set_one, run):
    await set_one(at="2027-01-06 09:00")
    await set_one("sum up", owner="house-id", cron="0 8 * * 1-5")

    code, out, err = await run()

    assert (code, err) == (Exit.OK, "")
    assert [line.split() for line in out.splitlines()] == [
        ["ID", "NEXT", "(Europe/Rome)", "WHEN", "AGENT", "TEXT"],
        ["2", "Tue", "2027-01-05", "08:00", *["0", "8", "*", "*", "1-5"], "house-id", "sum", "up"],
        ["1", "Wed", "2027-01-06", "09:00", "once", "One", "water", "the", "plants"],
    ]
    assert (await run("list"))[1] == out


async def test_without_the_agent_service_owners_are_shown_by_their_ids(set_one, run):
    await set_one()

    code, out, err = await run(ONECHAT_AGENT_ADDRESS=NOBODY)

    assert code == Exit.OK
    assert ROOT in out
    assert err == "onechat: The agent service does not say its agents' names: they stand here by their ids.\n"


async def test_a_list_as_json_has_every_field_wherever_the_flag_stands(set_one, run):
    text = "a\nb" + "c" * 500
    await set_one(text, owner="house-id", backed=False, cron="0  8 * * 1-5")

    _, out, err = await run("--json")
    others = [(await run("list", "--json"))[1], (await run("--json", "list"))[1]]

    assert json.loads(out) == {
        "schedules": [
            {
                "id": 1,
                "agent": None,
                "owner_id": "house-id",
                "text": text,
                "at": None,
                "cron": "0 8 * * 1-5",
                "next_time": "2027-01-05T07:00:00Z",
                "zone": ROME,
                "backed": False,
            }
        ]
    }
    assert (err, others) == ("", [out, out])


async def test_every_page_of_a_long_list_is_read(set_one, run):
    await asyncio.gather(*(set_one() for _ in range(1_001)))

    _, out, _ = await run("--json")

    assert len({one["id"] for one in json.loads(out)["schedules"]}) == 1_001


async def test_no_schedules_are_said_beside_an_empty_answer(run):
    assert await run() == (Exit.OK, "", "onechat: no agent has a schedule\n")
    assert json.loads((await run("--json"))[1]) == {"schedules": []}


async def test_what_is_due_and_waits_is_told(set_one, run, clock):
    await set_one(at="2027-01-05 18:00")
    await set_one(at="2027-01-05 19:30", backed=False)
    clock.advance(30 * 3_600)

    _, _, err = await run()

    assert err.splitlines() == [
        "onechat: Due, and waiting for the agent service: 1.",
        "onechat: Set without your word, so that what they do may ask you first: 2.",
    ]


# Preview


async def test_a_preview_of_an_expression_shows_its_next_runs_and_saves_nothing(run):
    code, out, err = await run("preview", "0 8 * * 1-5")

    assert (code, err) == (Exit.OK, "")
    assert out.splitlines() == [
        "Tue 2027-01-05 08:00 +01:00 Europe/Rome",
        "Wed 2027-01-06 08:00 +01:00 Europe/Rome",
        "Thu 2027-01-07 08:00 +01:00 Europe/Rome",
    ]
    assert json.loads((await run("--json"))[1]) == {"schedules": []}


async def test_a_preview_of_a_time_needs_no_quotes(run):
    assert (await run("preview", "2027-01-05", "18:00"))[1] == "Tue 2027-01-05 18:00 +01:00 Europe/Rome\n"


async def test_a_clock_change_among_the_runs_is_told_beside_them(run):
    _, out, err = await run("preview", "--runs", "90", "0 8 * * *")
    row = json.loads((await run("preview", "--json", "--runs", "90", "0 8 * * *"))[1])

    assert len(out.splitlines()) == 90
    assert "2027-03-28" in err
    assert (row["zone"], row["times"][0], len(row["times"])) == (ROME, "2027-01-05T07:00:00Z", 90)
    assert err == f"onechat: {row['remark']}\n"


@pytest.mark.parametrize(
    ("when", "reason"),
    [
        ("2020-01-01 10:00", "TIME_INVALID"),
        ("2027-01-05", "TIME_INVALID"),
        ("2027-03-28 02:30", "TIME_INVALID"),
        ("@daily", "CRON_INVALID"),
        ("0 9 30 2 *", "CRON_INVALID"),
        ("* * * * *", "CRON_INVALID"),
        ("", "CRON_INVALID"),
        ("0 8 \udcff * *", "CRON_INVALID"),
    ],
)
async def test_what_cannot_be_gets_the_services_own_sentence(run, when, reason):
    with pytest.raises(RemoteError) as refused:
        await run("preview", when)

    assert refused.value.reason == reason
    assert refused.value.message


# Remove


async def test_any_agents_schedule_is_removed_and_said_what_it_was(set_one, run):
    await set_one()
    await set_one("sum up", owner="house-id", cron="0 8 * * 1-5")

    code, out, _ = await run("remove", 2)
    row = json.loads((await run("remove", 1, "--json"))[1])["removed"]

    assert code == Exit.OK
    assert out == "Removed 2, 0 8 * * 1-5, next Tue 2027-01-05 08:00 Europe/Rome, of house-id: sum up\n"
    assert (row["id"], row["agent"], row["text"]) == (1, "One", "water the plants")
    assert json.loads((await run("--json"))[1]) == {"schedules": []}


async def test_an_id_that_is_not_there_says_how_to_find_those_that_are(set_one, run):
    await set_one()
    await run("remove", 1)

    with pytest.raises(CommandFailed, match="no schedule 1: `onechat schedules`"):
        await run("remove", 1)


# The service


async def test_a_scheduler_that_is_away_says_what_to_do(run):
    with pytest.raises(CommandFailed, match=r"scheduler service does not answer .*onechat up"):
        await run(ONECHAT_SCHEDULER_ADDRESS=NOBODY)


async def test_a_token_that_is_not_known_says_where_it_is_read(run, tmp_path):
    token = tmp_path / "wrong"
    token.write_text("wrong")

    with pytest.raises(CommandFailed, match="scheduler service does not know this token"):
        await run(ONECHAT_TOKEN_FILE=str(token))


async def test_a_refusal_holds_nothing_that_a_terminal_obeys(variables, scheduler, tmp_path):
    """A service repeats what it was given, which may have been pasted from anywhere."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ONECHAT_")}
    ended = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "onechat_cli", "schedules", "preview", "\x1b[2J * * * *"),
        cwd=tmp_path,
        env={**clean, **variables, "ONECHAT_SCHEDULER_ADDRESS": scheduler.address},
        stderr=subprocess.PIPE,
    )

    _, err = await ended.communicate()

    assert ended.returncode == Exit.WRONG
    assert err.decode().startswith("onechat: `␛[2J` as minute is not taken")
