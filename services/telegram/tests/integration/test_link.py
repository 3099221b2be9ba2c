"""Trouble with Telegram is said plainly, the rest goes on, and it works again by itself."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from onechat.telegram.v1 import telegram_service_pb2, telegram_service_pb2_grpc
from onechat_runtime.channels import new_channel
from onechat_telegram.domain.link import LinkState

from tests.fakes.bot_api import TOKEN
from tests.fakes.service_process import ServiceProcess, started
from tests.fakes.telegram_bench import Bench, Running


async def test_another_poller_is_said_and_it_works_again_by_itself(bench: Bench) -> None:
    bench.api.fail("getUpdates", code=409, times=3)
    async with bench.running() as running:
        await bench.clock.until_sleeping()
        trouble = running.board.troubles()["telegram"].sentence
        state = running.link.state
        async with bench.time_flies():
            bench.api.say("hello")
            await bench.agent.until(lambda: bool(bench.agent.deliveries))
            await bench.api.until(lambda: running.link.state is LinkState.CONNECTED)

        assert state is LinkState.OTHER_POLLER
        assert "Another program" in trouble
        assert "telegram" not in running.board.troubles()


async def test_status_and_health_say_that_there_is_another_poller_until_there_is_none(
    bench: Bench, tmp_path: Path
) -> None:
    bench.api.fail("getUpdates", code=409, times=None)
    environ = {"TELEGRAM_TOKEN": TOKEN, "TELEGRAM_BASE_URL": bench.api.address}
    with started("telegram", tmp_path, ONECHAT_AGENT_ADDRESS=bench.agent_address, **environ) as service:
        await _health(service, lambda page: "Another program" in page)
        status = await _status(service)
        bench.api.heal()
        await _health(service, lambda page: "Another program" not in page)
        afterwards = await _status(service)

    assert status.link == telegram_service_pb2.LINK_STATE_OTHER_POLLER
    assert afterwards.link == telegram_service_pb2.LINK_STATE_CONNECTED


async def _health(service: ServiceProcess, wanted: Callable[[str], bool]) -> None:
    """Return once its page is as wanted."""
    async with asyncio.timeout(20):
        while not wanted((await asyncio.to_thread(service.page, "/healthz"))[1]):
            await asyncio.sleep(0.02)


async def _status(service: ServiceProcess) -> telegram_service_pb2.GetStatusResponse:
    async with new_channel(service.address, token=service.token("operator")) as channel:
        stub = telegram_service_pb2_grpc.TelegramServiceStub(channel)
        return await stub.GetStatus(telegram_service_pb2.GetStatusRequest(), timeout=20)


async def test_the_log_says_once_what_is_wrong_and_what_to_do_and_once_that_it_is_over(
    bench: Bench, capfd: pytest.CaptureFixture[str]
) -> None:
    bench.api.fail("getUpdates", code=409, times=3)
    async with bench.running() as running, bench.time_flies():
        await bench.api.until(lambda: bench.api.calls["getUpdates"] > 3)
        bench.api.say("hello")
        await bench.agent.until(lambda: bool(bench.agent.deliveries))
        await bench.api.until(lambda: running.link.state is LinkState.CONNECTED)
    lines = capfd.readouterr().out.splitlines()

    [lost] = [line for line in lines if "link_lost" in line]
    assert "Another program" in lost
    assert sum("state=connected" in line for line in lines) == 2


async def test_another_poller_for_ever_keeps_the_waits_growing_to_a_minute(bench: Bench) -> None:
    bench.api.fail("getUpdates", code=409, times=None)
    async with bench.running() as running:
        waits = []
        for _ in range(9):
            await bench.clock.until_sleeping()
            waits.append(bench.clock.sleepers[0])
            bench.clock.advance(waits[-1])

        assert waits[0] < 2 < waits[3]
        assert 48 <= max(waits) <= 72
        assert running.link.state is LinkState.OTHER_POLLER


async def test_a_wrong_token_is_said(bench: Bench) -> None:
    async with bench.running() as running:
        bench.api.fail("getMe", code=401, times=1)
        bench.api.fail("getUpdates", code=401, times=1)
        await bench.clock.until_sleeping()

        assert running.link.state is LinkState.TOKEN_REFUSED
        assert "TELEGRAM_TOKEN" in running.board.troubles()["telegram"].sentence


async def test_an_outage_is_said_and_over_by_itself(bench: Bench) -> None:
    bench.api.fail("getUpdates", how="drop", times=2)
    async with bench.running() as running:
        await bench.clock.until_sleeping()
        state = running.link.state
        async with bench.time_flies():
            bench.api.say("hello")
            await bench.agent.until(lambda: bool(bench.agent.deliveries))

        assert state is LinkState.UNREACHABLE


async def test_an_answer_that_is_not_telegrams_is_an_outage(bench: Bench) -> None:
    """A hotel's network answers every address with its own page."""
    bench.api.fail("getMe", how="garbage")
    async with bench.running() as running, bench.time_flies():
        bench.api.say("hello")
        await bench.agent.until(lambda: bool(bench.agent.deliveries))

        assert running.link.state is LinkState.CONNECTED


async def test_an_id_that_no_update_has_is_an_outage_and_ends_no_service(bench: Bench) -> None:
    """It would not fit into the store; the poll that met it would have ended the service, at each start."""
    first = bench.api.next_update_id
    bench.api.update({"update_id": 2**70, "message": {}})
    async with bench.running() as running, bench.time_flies():
        await bench.api.until(lambda: bench.api.calls["getUpdates"] > 2)
        assert running.link.state is LinkState.UNREACHABLE

        bench.api.updates.clear()
        bench.api.next_update_id = first
        bench.api.say("hello")
        await bench.agent.until(lambda: bool(bench.agent.deliveries))


async def test_a_menu_that_telegram_refuses_costs_nothing_else(bench: Bench) -> None:
    bench.api.fail("setMyCommands", code=400)
    async with bench.running() as running:
        bench.api.say("/help")
        await bench.api.until(lambda: bench.api.texts() == ["did /help"])

        assert running.link.state is LinkState.CONNECTED
        assert bench.api.calls["setMyCommands"] == 1


async def test_the_menu_and_the_kinds_of_updates_are_set(running: Running) -> None:
    await running.api.until(lambda: bool(running.api.allowed_updates))

    menu = [command["command"] for command in running.api.commands]
    assert menu == ["stop", "proposals", "yes", "no", "whatsapp", "usage", "agents", "help"]
    assert running.api.allowed_updates == [
        "message",
        "edited_message",
        "callback_query",
        "my_chat_member",
    ]
    assert running.api.calls["deleteWebhook"] == 1


def test_without_a_token_the_service_is_idle_and_healthy(tmp_path: Path) -> None:
    with started("telegram", tmp_path) as service:
        status, page = service.page("/healthz")

        assert status == 200
        assert "Telegram is not set up" in json.dumps(page)
        assert service.stop() == 0


def test_a_token_that_can_not_be_one_is_said_and_the_service_runs(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("TELEGRAM_TOKEN=nonsense\n")

    with started("telegram", tmp_path) as service:
        _, page = service.page("/healthz")

    assert "Telegram refuses the bot's token" in page
    assert "nonsense" not in page
