"""The root at a start: made once, found again, renamed, and never forgotten because a folder is not there."""

import os
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from onechat_agent.adapters import agent_folder, agent_rows
from onechat_agent.adapters.agent_folder import AgentFolder
from onechat_agent.domain.chat import AgentId
from onechat_agent.root_folder import open_root
from onechat_runtime.errors import StartRefused
from onechat_runtime.store import Store, migrations_in

from tests.fakes.agent_house import living
from tests.fakes.clock import ManualClock
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import ScriptedModel


class Start:
    """Starts over one store and one agents folder."""

    def __init__(self, store: Store, agents: Path) -> None:
        self.store, self.agents = store, agents

    async def root(self, name: str = "One") -> AgentFolder:
        return await open_root(self.store, ManualClock(), self.agents, name)

    async def ready(self, name: str = "One") -> AgentFolder:
        """As the root is once its log is there."""
        folder = await self.root(name)
        await self.store.write(lambda db: agent_rows.make_ready(db, folder.id))
        return folder

    def name(self) -> str:
        row = self.store.read(agent_rows.root)
        assert row is not None
        return row.name


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[Start]:
    migrations = migrations_in("onechat_agent.migrations")
    path = tmp_path / "data" / "store.db"
    async with Store.open(path, component="agent", migrations=migrations, clock=ManualClock()) as store:
        yield Start(store, tmp_path / "agents")


async def refused(start: Start, name: str = "One") -> str:
    with pytest.raises(StartRefused) as why:
        await start.root(name)
    assert "\n" not in str(why.value)
    return str(why.value)


async def test_the_first_start_makes_a_private_folder_and_the_next_finds_it(start: Start) -> None:
    first = await start.ready()

    assert await start.root() == first
    assert stat.S_IMODE(first.path.stat().st_mode) == 0o700
    assert stat.S_IMODE((first.path / "agent.toml").stat().st_mode) == 0o600
    assert [path.name for path in start.agents.iterdir()] == ["One"]


async def test_a_start_that_was_killed_before_the_folder_makes_it_with_the_same_id(start: Start) -> None:
    first = await start.root()
    (first.path / "agent.toml").unlink()
    first.path.rmdir()

    assert (await start.root()).id == first.id


async def test_a_whole_folder_that_is_there_already_is_adopted(start: Start) -> None:
    start.agents.mkdir()
    agent_folder.make(start.agents, "One", AgentId("0123456789abcdef"))

    assert (await start.root()).id == "0123456789abcdef"


async def test_a_changed_name_renames_the_folder_and_keeps_what_is_in_it(start: Start) -> None:
    first = await start.ready()
    first.instructions.write_text(" I like tea. \n")

    renamed = await start.root("Ada")

    assert (renamed.id, renamed.path.name, start.name()) == (first.id, "Ada", "Ada")
    assert renamed.instructions.read_text() == " I like tea. \n"
    assert not first.path.exists()


async def test_a_rename_that_was_killed_between_folder_and_row_is_finished(start: Start) -> None:
    first = await start.ready()
    first.path.rename(start.agents / "Ada")

    assert (await start.root("Ada")).id == first.id
    assert start.name() == "Ada"


async def test_a_name_that_another_folder_has_is_refused_and_nothing_is_changed(start: Start) -> None:
    await start.ready()
    agent_folder.make(start.agents, "Ada", AgentId("another"))

    assert "another agent's folder" in await refused(start, "Ada")
    assert start.name() == "One"
    await start.root()


@pytest.mark.parametrize("name", ["One", "Ada"])
async def test_a_mount_that_did_not_come_up_is_refused(start: Start, name: str) -> None:
    first = await start.ready()
    first.path.rename(start.agents.parent / "elsewhere")

    assert "One is missing" in await refused(start, name)
    start.agents.rmdir()
    assert "One is missing" in await refused(start, name)
    assert start.name() == "One"
    assert not start.agents.exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id = ", "cannot be used"),
        ("", "id is missing"),
        ('id = "a b"', "id is missing, or is not"),
        ('id = "x"\ncolour = "red"', "no setting colour"),
        ('id = "x"\nmodel = 5', "model must be a text"),
        ('id = "x"\n[limits]\ncalls = 0', "limits.calls"),
        ('id = "x"\n[limits]\ncall = 1', "[limits] holds"),
        ('id = "x"\noutside = ["whatsapp_send"]', "outside is a list"),
        ('id = "another"', "belongs to another store"),
        ('id = "user"', "is root or user"),  # what comes from it would be taken for the user's
        ('id = "root"', "is root or user"),
        ('id = "x"\nworkdir = "a\\u0000b"', "workdir holds a character that is none"),
        ("id = " + "[" * 10_000, "its brackets never end"),
        ("#" * 1_000_001, "more than 1,000,000 bytes"),
    ],
)
async def test_an_agent_toml_that_cannot_be_used_is_named(start: Start, text: str, said: str) -> None:
    first = await start.ready()
    (first.path / "agent.toml").write_text(text)

    why = await refused(start)

    assert said in why
    assert str(first.path / "agent.toml") in why


async def test_an_agent_toml_that_is_a_pipe_is_named_and_not_waited_for(start: Start) -> None:
    first = await start.ready()
    (first.path / "agent.toml").unlink()
    os.mkfifo(first.path / "agent.toml")

    assert f"{first.path / 'agent.toml'} cannot be used: it is no plain file" in await refused(start)


async def test_a_new_agent_toml_shows_what_may_stand_in_it(start: Start) -> None:
    """Taking the # away changes nothing until a value is changed."""
    made = await start.ready()
    file = made.path / "agent.toml"
    hints = [line for line in file.read_text().splitlines() if line.startswith("#") and line[1:2].strip()]

    file.write_text(file.read_text().replace("\n#", "\n").replace("\n ", "\n# "))

    assert len(hints) >= 10
    assert await start.ready() == made


async def test_a_missing_agent_toml_is_named(start: Start) -> None:
    first = await start.ready()
    (first.path / "agent.toml").unlink()

    assert str(first.path / "agent.toml") in await refused(start)


async def test_what_agent_toml_says_goes_before_the_settings(start: Start) -> None:
    first = await start.ready()
    (first.path / "agent.toml").write_text(
        f'id = "{first.id}"\nmodel = "m"\neffort = "low"\nworkdir = "/w"\n'
        'outside = ["shell"]\n[limits]\ncalls = 7'
    )
    read = await start.root()

    assert (read.model, read.effort, read.workdir, read.outside) == ("m", "low", Path("/w"), ("shell",))
    assert (read.limits.calls, read.limits.minutes) == (7, 60)


async def test_an_effort_that_no_model_has_is_refused_by_name(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    agents = tmp_path / "data" / "agent" / "agents"
    agents.mkdir(parents=True)
    agent_folder.make(agents, "One", AgentId("x"))
    (agents / "One" / "agent.toml").write_text('id = "x"\neffort = "lots"')

    with pytest.raises(StartRefused, match="effort is one of none, minimal"):
        async with living(tmp_path, memory, model):
            pass


async def test_a_log_that_has_the_label_of_an_earlier_name_serves_on(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """A changed ONECHAT_NAME must not end the agent at each start."""
    model.say("here")
    async with living(tmp_path, memory, model) as house:
        root = house.seat.id
        await house.say("hello")
    agents = tmp_path / "data" / "agent" / "agents"
    (agents / "One").rename(agents / "Two")
    await _rename_row(tmp_path)
    (agents / "Two").rename(agents / "One")
    model.say("and here")
    async with living(tmp_path, memory, model) as house:
        await house.say("hello again")

        assert house.seat.id == root
        assert (await house.lines())[-1] == "reply: and here"


async def _rename_row(folder: Path) -> None:
    """The store as it is while the root is called Two; the next start calls it One."""
    path = folder / "data" / "agent" / "store.db"
    migrations = migrations_in("onechat_agent.migrations")
    async with Store.open(path, component="agent", migrations=migrations, clock=ManualClock()) as store:
        root = store.read(agent_rows.root)
        assert root is not None
        await store.write(lambda db: agent_rows.rename(db, root.id, "Two"))
