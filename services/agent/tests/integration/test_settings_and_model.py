"""Settings, the machine's zone, and which model answers."""

from pathlib import Path

import pytest
from onechat_agent import wiring
from onechat_agent.adapters import agent_folder, usage_rows
from onechat_agent.config import AgentSettings
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.usage import Purpose
from onechat_agent.fences import make_workdir
from onechat_agent.model.items import TokenUsage
from onechat_runtime.errors import StartRefused
from onechat_runtime.health import HealthBoard
from onechat_runtime.settings import SettingsFaulty, load
from onechat_runtime.store import Store, migrations_in

from tests.fakes.agent_house import settings_in
from tests.fakes.clock import ManualClock

KEY = "sk-very-secret-key-123"


def a_store(folder: Path):  # type: ignore[no-untyped-def]
    migrations = migrations_in("onechat_agent.migrations")
    path = folder / "store.db"
    return Store.open(path, component="agent", migrations=migrations, clock=ManualClock())


async def used(store: Store, model: str) -> None:
    tokens = TokenUsage(input=1, cached_input=0, output=1, reasoning=0)
    await store.write(
        lambda db: usage_rows.count(
            db,
            day="2026-01-01",
            agent=AgentId("a"),
            model=model,
            purpose=Purpose.TURN,
            tokens=tokens,
            cost_millionths=None,
        )
    )


def test_every_fault_of_the_settings_is_said_at_once() -> None:
    with pytest.raises(SettingsFaulty) as faults:
        load(
            AgentSettings,
            {
                "ONECHAT_NAME": "one two",
                "ONECHAT_TIME_ZONE": "Mars/Olympus",
                "ONECHAT_EFFORT": "lots",
                "ONECHAT_CONFIRM": "never",
                "OPENAI_BASE_URL": "localhost",
                "ONECHAT_ENDPOINT_LACKS": "everything",
                "ONECHAT_DEMO": "yes",
            },
        )
    assert len(str(faults.value).splitlines()) == 7


def test_a_key_is_in_no_repr(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(f"{KEY}\n")
    for environ in ({"OPENAI_API_KEY": KEY}, {"OPENAI_API_KEY_FILE": str(tmp_path / "key")}):
        settings = load(AgentSettings, environ)

        assert settings.api_key is not None
        assert settings.api_key.reveal() == KEY
        assert KEY not in repr(settings)
        assert not settings.wants_demo


@pytest.mark.parametrize(
    ("environ", "demo"),
    [
        ({}, True),
        ({"OPENAI_API_KEY": ""}, True),
        ({"OPENAI_API_KEY": KEY}, False),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, False),
        ({"OPENAI_API_KEY": KEY, "ONECHAT_DEMO": "1"}, True),
    ],
)
def test_without_a_key_or_a_server_the_demo_answers(environ: dict[str, str], demo: bool) -> None:
    assert load(AgentSettings, environ).wants_demo is demo


async def test_the_demo_is_refused_where_a_real_model_has_written(tmp_path: Path) -> None:
    """A lost .env must not let rules write the memory."""
    async with a_store(tmp_path) as store:
        await used(store, "gpt-6.1-terra")
        with pytest.raises(StartRefused, match="OPENAI_API_KEY"):
            async with wiring.model_at_hand(settings_in(tmp_path), store, ManualClock(), HealthBoard()):
                pass


async def test_the_demo_goes_on_with_its_own_memory_and_says_so(tmp_path: Path) -> None:
    board = HealthBoard()
    async with a_store(tmp_path) as store:
        await used(store, wiring.DEMO_MODEL)
        async with wiring.model_at_hand(settings_in(tmp_path), store, ManualClock(), board) as found:
            assert (found.model, found.compact_model) == ("demo", "demo")
    assert "demo" in board.remarks()["demo"]


async def test_a_working_directory_in_the_services_data_is_refused(tmp_path: Path) -> None:
    """No tool could work in it."""
    settings = settings_in(tmp_path, name="One")
    inside = AgentSettings(
        data=settings.data, address=settings.address, workdir=settings.data / "work", zone="Europe/Rome"
    )
    settings.agents_folder.mkdir(parents=True)
    agent_folder.make(settings.agents_folder, "One", AgentId("x"))
    folder = agent_folder.read(settings.agents_folder / "One")

    make_workdir(settings, folder)
    with pytest.raises(StartRefused, match="ONECHAT_WORKDIR"):
        make_workdir(inside, folder)
