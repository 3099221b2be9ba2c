"""`onechat telegram` against a service of groups; the fake agent service knows the root, One, alone."""

import asyncio
import json
import os
import subprocess
import sys

import pytest
from onechat.telegram.v1 import telegram_service_pb2 as v1
from onechat_cli.arguments import parser
from onechat_cli.commands.telegram import telegram as run_telegram
from onechat_cli.config import settings_from
from onechat_cli.outcome import CommandFailed, Exit
from onechat_runtime.errors import RemoteError, StartRefused

from tests.fakes.agent_clients import ROOT
from tests.fakes.telegram_servicer import TelegramServicer, telegram_serving

NOBODY = "127.0.0.1:9"
GARDEN = -1001234567890


@pytest.fixture
def telegram():
    """The service's groups: one, which awaits the owner's yes."""
    service = TelegramServicer()
    service.add(GARDEN, "Garden")
    return service


@pytest.fixture
def run(variables, telegram, capsys):
    """Runs `onechat telegram LINE`: its exit code, its stdout, its stderr."""

    async def ran(*line, **others):
        chosen = parser().parse_args(["telegram", *map(str, line)])
        async with telegram_serving(telegram) as loopback:
            told = {**variables, "ONECHAT_TELEGRAM_ADDRESS": loopback.address, **others}
            code = await run_telegram(settings_from(told), chosen)
        return code, *capsys.readouterr()

    return ran


# Groups


async def test_all_groups_are_listed_with_their_agents_names_and_settings(telegram, run):
    telegram.add(-42, "Cars", admitted=True, agent_id=ROOT)

    code, out, err = await run("groups")

    assert (code, err) == (Exit.OK, "")
    assert out.splitlines() == [
        "          CHAT  GROUP   STATE            AGENT  SET TO",
        "-1001234567890  Garden  awaits your yes  -      "
        "simple; learns; private chats; listens for @robobot, Robo",
        "           -42  Cars    served           One    "
        "simple; learns; private chats; listens for @robobot, Robo",
    ]


async def test_groups_as_json_have_every_field(telegram, run):
    title = "a\nb\u202e" + "c" * 200
    telegram.add(-42, title, admitted=True, agent_id="cars-id")

    found = json.loads((await run("groups", "--json"))[1])["groups"]

    assert [one["chat_id"] for one in found] == [GARDEN, -42]
    assert found[1] == {
        "chat_id": -42,
        "title": title,
        "admitted": True,
        "detector": "simple",
        "names": ["@robobot", "Robo"],
        "ask_model": True,
        "learn": True,
        "private_chats": True,
        "agent": None,
        "agent_id": "cars-id",
    }
    assert (found[0]["agent"], found[0]["agent_id"]) == (None, None)


async def test_every_page_of_a_long_list_is_read(telegram, run):
    for number in range(1, 1_101):
        telegram.add(-number, f"Group {number}")

    _, out, _ = await run("groups", "--json")

    assert len({one["chat_id"] for one in json.loads(out)["groups"]}) == 1_101
    assert telegram.calls["ListGroups"] == 2


async def test_without_the_agent_service_agents_are_shown_by_their_ids(telegram, run):
    telegram.add(-42, "Cars", admitted=True, agent_id=ROOT)

    code, out, err = await run("groups", ONECHAT_AGENT_ADDRESS=NOBODY)

    assert code == Exit.OK
    assert ROOT in out
    assert err == "onechat: The agent service does not say its agents' names: they stand here by their ids.\n"


@pytest.mark.parametrize(
    ("link", "said"),
    [
        (v1.LINK_STATE_NO_TOKEN, "Telegram is not set up: set TELEGRAM_TOKEN"),
        (v1.LINK_STATE_TOKEN_REFUSED, "Telegram refuses the bot's token: check TELEGRAM_TOKEN"),
        (v1.LINK_STATE_CONNECTED, "The bot is in no group: add it to one in Telegram"),
    ],
)
async def test_where_there_is_no_group_it_is_said_why(telegram, run, link, said):
    telegram.groups.clear()
    telegram.link = link

    code, out, err = await run("groups")

    assert (code, out) == (Exit.OK, "")
    assert err.startswith(f"onechat: {said}")
    assert json.loads((await run("groups", "--json"))[1]) == {"groups": []}
    with pytest.raises(CommandFailed, match=said):
        await run("admit", "Garden")


async def test_a_detector_of_a_newer_service_is_shown_and_kept(telegram, run):
    telegram.add(-42, "Cars", detector=9)

    out = (await run("groups"))[1]
    with pytest.raises(RemoteError):  # what the service says of it, which knows it no more than we do here
        await run("set", "Cars", "--learn", "off")

    assert "detector 9; learns" in out
    assert telegram.groups[-42].detector == 9


# Set


async def test_what_no_flag_names_stays_as_it_is(telegram, run):
    telegram.add(-42, "Cars", admitted=True, agent_id="cars-id")

    code, out, err = await run("set", "cars", "--detector", "hybrid", "--learn", "off")

    assert (code, err) == (Exit.OK, "")
    assert out == "Cars (-42) is set: hybrid; does not learn; private chats; listens for @robobot, Robo\n"
    assert telegram.groups[-42] == v1.Group(
        chat_id=-42,
        title="Cars",
        admitted=True,
        detector=v1.DETECTOR_HYBRID,
        names=["@robobot", "Robo"],
        ask_model=True,
        private_chats=True,
        agent_id="cars-id",
    )
    assert telegram.groups[GARDEN].learn


async def test_names_take_the_place_of_those_before(telegram, run):
    out = (await run("set", GARDEN, "--name", "kob*", "--name", "old robot", "--ask-model", "off"))[1]
    row = json.loads((await run("set", "Garden", "--no-names", "--private", "off", "--json"))[1])["group"]

    assert "listens for kob*, old robot" in out
    assert (row["names"], row["ask_model"], row["private_chats"], row["learn"]) == ([], False, False, True)
    assert list(telegram.groups[GARDEN].names) == []


async def test_a_name_that_cannot_be_gets_the_services_own_sentence(telegram, run):
    for name in ("*", "\udcff", "x" * 61):
        with pytest.raises(RemoteError) as refused:
            await run("set", "Garden", "--name", name)
        assert refused.value.reason == "SETTING_INVALID"

    assert list(telegram.groups[GARDEN].names) == ["@robobot", "Robo"]


async def test_nothing_to_set_is_bad_usage_before_anything_is_asked(telegram, run):
    with pytest.raises(StartRefused, match="onechat telegram set --help"):
        await run("set", "Garden")

    assert sum(telegram.calls.values()) == 0


# Admit and remove


async def test_an_admitted_group_is_served_by_its_agent(telegram, run):
    code, out, err = await run("admit", "gard")
    row = json.loads((await run("admit", GARDEN, "--json"))[1])["group"]

    assert (code, err) == (Exit.OK, "")
    assert out == f"Garden ({GARDEN}) is served, by the agent agent-of{GARDEN}\n"
    assert (row["admitted"], row["agent_id"]) == (True, f"agent-of{GARDEN}")
    assert telegram.groups[GARDEN].admitted


async def test_a_removed_group_is_said_what_it_was(telegram, run):
    telegram.add(-42, "Cars", admitted=True, agent_id="cars-id")

    code, out, _ = await run("remove", -42)
    row = json.loads((await run("remove", "Garden", "--json"))[1])["removed"]

    assert code == Exit.OK
    assert out == "The bot has left Cars (-42); its agent and its log are kept\n"
    assert (row["chat_id"], row["title"]) == (GARDEN, "Garden")
    assert telegram.left == {GARDEN, -42}


@pytest.mark.parametrize("line", [("set", "x", "--learn", "on"), ("admit", "x"), ("remove", "x")], ids=str)
async def test_what_names_no_group_or_several_changes_nothing(telegram, run, line):
    part, _, *flags = line
    telegram.add(-42, "Garden tools")

    with pytest.raises(CommandFailed, match="no group house: `onechat telegram groups`"):
        await run(part, "house", *flags)
    with pytest.raises(CommandFailed, match=r"may be 2 groups: .* Name one by its number\."):
        await run(part, "arden", *flags)

    assert set(telegram.calls) == {"ListGroups"}


@pytest.mark.parametrize(
    ("method", "line"),
    [
        ("SetGroup", ("set", "Garden", "--learn", "on")),
        ("AdmitGroup", ("admit", "Garden")),
    ],
)
async def test_a_group_that_is_left_meanwhile_is_said_to_be(telegram, run, method, line):
    telegram.before[method] = lambda: telegram.left.add(GARDEN)

    with pytest.raises(CommandFailed, match=rf"no longer in Garden \({GARDEN}\)"):
        await run(*line)


async def test_a_group_cannot_be_left_while_telegram_is_away(telegram, run):
    telegram.link = v1.LINK_STATE_UNREACHABLE

    with pytest.raises(RemoteError) as refused:
        await run("remove", "Garden")

    assert refused.value.reason == "NOT_CONNECTED"
    assert telegram.left == set()


# The service


async def test_a_service_that_is_away_says_what_to_do(run):
    with pytest.raises(CommandFailed, match=r"telegram service does not answer .*onechat up"):
        await run("groups", ONECHAT_TELEGRAM_ADDRESS=NOBODY)


async def test_a_token_that_is_not_known_says_where_it_is_read(run, tmp_path):
    token = tmp_path / "wrong"
    token.write_text("wrong")

    with pytest.raises(CommandFailed, match="telegram service does not know this token"):
        await run("groups", ONECHAT_TOKEN_FILE=str(token))


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        (["admit", "\x1b[3J"], Exit.WRONG, "The bot is in no group ␛[3J:"),
        (["admit", "Garden"], Exit.WRONG, "Garden may be 2 groups: Old garden "),
        (["set", "Garden"], Exit.REFUSED, "There is nothing to set:"),
    ],
    ids=str,
)
async def test_a_refusal_holds_nothing_that_a_terminal_obeys(variables, telegram, tmp_path, line, code, said):
    """Whoever is in a group may give it a title."""
    telegram.add(-42, "Garden\x1b[2J")
    telegram.add(GARDEN - 1, "Old garden")
    telegram.groups.pop(GARDEN)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ONECHAT_")}
    async with telegram_serving(telegram) as loopback:
        ended = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "onechat_cli", "telegram", *line),
            cwd=tmp_path,
            env={**clean, **variables, "ONECHAT_TELEGRAM_ADDRESS": loopback.address},
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        out, err = await ended.communicate()

    assert (ended.returncode, out) == (code, b"")
    assert err.decode().startswith(f"onechat: {said}")
    assert b"\x1b" not in err
