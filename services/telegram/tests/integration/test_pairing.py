"""Who becomes the owner, and what the status says of it."""

import pytest
from onechat.ops.v1 import ops_service_pb2, ops_service_pb2_grpc
from onechat.telegram.v1 import telegram_service_pb2, telegram_service_pb2_grpc
from onechat_runtime.health_service import health_page
from onechat_telegram.adapters import chat_store
from onechat_telegram.domain.ids import UserId
from onechat_telegram.domain.wording import ALREADY_YOURS, NO_OWNER_YET, NOT_FOR_YOU, WELCOME

from tests.fakes.bot_api import OWNER
from tests.fakes.telegram_bench import Bench, Running

STRANGER = 777


async def test_the_first_chat_that_sends_the_code_becomes_the_owners(bench: Bench) -> None:
    async with bench.running(owner=None) as running:
        code = running.ownership.code
        running.api.say(f"/start {code.upper()}")
        await running.api.until(lambda: bool(running.api.sent))
        running.api.say("hello")
        await running.agent.until(lambda: bool(running.agent.deliveries))

        assert running.api.texts() == [WELCOME]
        assert running.agent.texts() == ["hello"]
        assert running.ownership.code == ""
        assert running.store.read(chat_store.pairing_code) == ""


async def test_the_log_shows_the_code_also_while_telegram_is_away(
    bench: Bench, capfd: pytest.CaptureFixture[str]
) -> None:
    bench.api.fail("getMe", how="drop")
    async with bench.running(owner=None) as running:
        code = running.ownership.code
        await bench.clock.until_sleeping()
        away = capfd.readouterr().out
        async with bench.time_flies():
            await bench.api.until(lambda: bench.api.calls["getUpdates"] > 0)
        there = capfd.readouterr().out

    assert code in away
    assert code in there
    assert bench.api.username in there


async def test_the_code_pairs_once(bench: Bench) -> None:
    async with bench.running(owner=None) as running:
        code = running.ownership.code
        running.api.say(f"/start {code}")
        await running.api.until(lambda: bool(running.api.sent))
        running.api.say(f"/start {code}", user=STRANGER)
        running.api.say("/start")
        await running.api.until(lambda: len(running.api.sent) == 3)

        assert running.api.texts(STRANGER) == [NOT_FOR_YOU]
        assert running.api.texts() == [WELCOME, ALREADY_YOURS]


async def test_a_wrong_code_gets_a_line_that_says_what_to_do(bench: Bench) -> None:
    async with bench.running(owner=None) as running:
        running.api.say("/start abcdefghij")
        running.api.say("hello?")
        running.api.say(f"/start {running.ownership.code}")
        await running.api.until(lambda: len(running.api.sent) == 2)

        assert running.api.texts() == [NO_OWNER_YET, WELCOME]
        assert not running.agent.deliveries


async def test_the_code_and_the_owner_outlive_a_restart(bench: Bench) -> None:
    async with bench.running(owner=None) as running:
        code = running.ownership.code
    async with bench.running(owner=None) as running:
        again = running.ownership.code
        running.api.say(f"/start {code}")
        await running.api.until(lambda: bool(running.api.sent))
    async with bench.running(owner=None) as running:
        owner = running.ownership.owner

    assert code == again
    assert owner == OWNER


async def test_messages_before_the_pairing_do_not_reach_the_agent(bench: Bench) -> None:
    async with bench.running(owner=None) as running:
        running.api.say("too early")
        running.api.say(f"/start {running.ownership.code}")
        await running.api.until(lambda: WELCOME in running.api.texts())
        running.api.say("now")
        await running.agent.until(lambda: bool(running.agent.deliveries))

        assert running.agent.texts() == ["now"]


async def test_the_status_shows_the_code_to_the_operator_alone(bench: Bench) -> None:
    """Whoever has it can become the owner: another service, or the agent's shell with the pages of health."""
    async with bench.running(owner=None) as running:
        await running.api.until(lambda: running.api.calls["getUpdates"] > 0)

        operators = await _status(running, "operator")
        agents = await _status(running, "agent")
        info = ops_service_pb2_grpc.SnapshotServiceStub(running.loopback.channel("agent"))
        told = str(await info.GetInfo(ops_service_pb2.GetInfoRequest(), timeout=20))
        _, page = health_page(running.board)

        assert operators.pairing_code == running.ownership.code
        assert agents.pairing_code == ""
        assert running.ownership.code not in told
        assert running.ownership.code not in page.decode()
        assert not operators.paired
        assert operators.bot == running.api.username
        assert operators.link == telegram_service_pb2.LINK_STATE_CONNECTED
        assert operators.HasField("last_answer_time")


async def test_the_settings_owner_needs_no_code(running: Running) -> None:
    status = await _status(running, "operator")

    assert status.paired
    assert status.pairing_code == ""


async def test_nobody_pairs_after_the_first(bench: Bench) -> None:
    """Whatever was on its way when the first did."""
    async with bench.running(owner=None) as running:
        for user in (OWNER, STRANGER):
            await running.store.write(lambda db, user=user: running.ownership.pair(db, UserId(user)))

        assert running.ownership.owner == OWNER


async def test_whom_the_settings_name_is_the_owner_only_as_long_as_they_do(bench: Bench) -> None:
    """What they write while they are does not pair; and nobody who has paired outdoes the settings."""
    async with bench.running() as running:
        running.api.say("/start")
        await running.api.until(lambda: running.api.texts() == [ALREADY_YOURS])
    async with bench.running(owner=None) as running:
        assert running.ownership.owner is None
        running.api.say(f"/start {running.ownership.code}")
        await running.api.until(lambda: running.api.texts()[-1:] == [WELCOME])
    async with bench.running(owner=STRANGER) as running:
        running.api.say("mine?")
        await running.api.until(lambda: running.api.texts()[-1:] == [NOT_FOR_YOU])
        assert not running.agent.deliveries


async def _status(running: Running, caller: str) -> telegram_service_pb2.GetStatusResponse:
    stub = telegram_service_pb2_grpc.TelegramServiceStub(running.loopback.channel(caller))
    return await stub.GetStatus(telegram_service_pb2.GetStatusRequest(), timeout=20)
