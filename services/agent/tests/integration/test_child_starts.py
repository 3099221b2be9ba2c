"""Children at a start: what was begun is finished, folders that were put there are taken in, faults named."""

import asyncio
import stat
from pathlib import Path

import pytest
from onechat_agent.adapters import agent_folder, agent_rows
from onechat_agent.adapters.memory import MemoryClient
from onechat_agent.children import READY_WAIT_S
from onechat_agent.domain.agent import Agent, AgentState, Role
from onechat_agent.domain.chat import AgentId
from onechat_agent.lives import REFUSED_PAUSE_S
from onechat_runtime.clock import SystemClock
from onechat_runtime.errors import StartRefused

from tests.fakes.agent_house import House, living
from tests.fakes.child_folders import (
    AREA,
    HOUSE,
    agents_in,
    change_rows,
    children,
    half_made,
    house_opened_once,
    put_house,
    ready,
    started_once,
    until,
)
from tests.fakes.clock import ManualClock
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import ScriptedModel, call
from tests.fakes.service_process import start_in_vain, started


async def refused(folder: Path, memory: MemoryServer, model: ScriptedModel) -> str:
    with pytest.raises(StartRefused) as why:
        async with living(folder, memory, model):
            pass
    assert "\n" not in str(why.value)
    return str(why.value)


@pytest.mark.parametrize("there", ["row", "log", "folder"])
async def test_a_child_whose_making_was_killed_at_any_point_is_finished(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, there: str
) -> None:
    root = await started_once(tmp_path, memory, model)
    await change_rows(tmp_path, lambda db: agent_rows.add(db, half_made(root), SystemClock().now()))
    if there in ("log", "folder"):
        await memory.create(HOUSE, label="House")
    if there == "folder":
        put_house(tmp_path)
    model.say("")

    async with living(tmp_path, memory, model) as house:
        await ready(house, "House")
        await house.say("it is cold", to=HOUSE)

        assert children(house) == {"House": (HOUSE, AgentState.READY)}
        assert (await memory.messages(log=HOUSE))[0].text == "it is cold"
    made = agent_folder.read(agents_in(tmp_path) / "House")
    assert (made.id, made.area) == (HOUSE, AREA)
    assert stat.S_IMODE(made.path.stat().st_mode) == 0o700
    assert sorted(path.name for path in agents_in(tmp_path).iterdir()) == ["House", "One"]


async def test_the_call_that_a_kill_interrupted_gives_the_child_that_it_made(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.call(call("agent_create", name="House", responsibility=AREA))
    bars: list[Barred] = []

    def through(client: MemoryClient) -> MemoryClient:
        bars.append(Barred(client))
        return bars[-1]

    async with living(tmp_path, memory, model, through=through) as house:
        key = await house.deliver("make House")
        await bars[0].reached.wait()
        made = children(house)
    model.say("House is there")

    async with living(tmp_path, memory, model, after=0) as house:
        await house.ended(key)

        assert children(house) == {"House": (made["House"][0], AgentState.READY)}
        assert "echo: House is there. It knows only its responsibility so far." in await house.lines()


async def test_a_call_does_not_wait_for_a_memory_that_is_away(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """The root goes on; its child gets ready by itself."""
    clock = ManualClock()
    bars: list[Barred] = []

    def through(client: MemoryClient) -> MemoryClient:
        bars.append(Barred(client))
        return bars[-1]

    model.call(call("agent_create", name="House", responsibility=AREA))
    model.say("House will be there")
    async with living(tmp_path, memory, model, clock=clock, through=through) as house:
        key = await house.deliver("make House")
        await bars[0].reached.wait()
        clock.advance(READY_WAIT_S)
        await house.ended(key)
        assert any("House is made, and begins once its memory" in line for line in await house.lines())

        bars[0].opened.set()

        await ready(house, "House")


async def test_what_comes_for_a_child_whose_memory_is_away_is_kept_until_it_is_there(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    root = await started_once(tmp_path, memory, model)
    await change_rows(tmp_path, lambda db: agent_rows.add(db, half_made(root), SystemClock().now()))
    bars: list[Barred] = []

    def through(client: MemoryClient) -> MemoryClient:
        bars.append(Barred(client))
        return bars[-1]

    model.say("at once", "")
    async with living(tmp_path, memory, model, through=through) as house:
        await bars[0].reached.wait()
        key = await house.deliver("it is cold", to=HOUSE)
        await house.say("hello")
        assert house.seen.replies() == ["at once"]

        bars[0].opened.set()

        await house.ended(key)
        assert (await memory.messages(log=HOUSE))[0].text == "it is cold"


async def test_a_folder_without_a_row_is_adopted(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    await started_once(tmp_path, memory, model)
    put_house(tmp_path)

    async with living(tmp_path, memory, model) as house:
        await ready(house, "House")

        assert children(house)["House"][0] == HOUSE
        assert (await memory.stats(HOUSE)).log.label == "House"


async def test_a_folder_that_was_renamed_is_the_same_child_under_its_new_name(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    await house_opened_once(tmp_path, memory, model)
    (agents_in(tmp_path) / "House").rename(agents_in(tmp_path) / "Home")
    file = agents_in(tmp_path) / "Home" / "agent.toml"
    file.write_text(file.read_text().replace(AREA, "Everything at home"))
    model.say("")

    async with living(tmp_path, memory, model) as house:
        await house.say("it is cold", to=HOUSE)

        assert set(children(house)) == {"Home"}
        assert "You are Home" in model.requests()[-1].body["instructions"]
        assert "Your area: Everything at home" in model.requests()[-1].body["instructions"]
        assert house.seen.notices() == []


async def test_two_children_that_have_changed_names_are_told_apart_by_their_ids(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    await started_once(tmp_path, memory, model)
    agents = agents_in(tmp_path)
    agent_folder.make(agents, "House", HOUSE, area=AREA)
    agent_folder.make(agents, "Garden", AgentId("g"), area="The garden")
    async with living(tmp_path, memory, model) as house:
        await ready(house, "House")
        await ready(house, "Garden")
    (agents / "House").rename(agents / "between")
    (agents / "Garden").rename(agents / "House")
    (agents / "between").rename(agents / "Garden")

    async with living(tmp_path, memory, model) as house:
        assert {name: agent for name, (agent, _) in children(house).items()} == {
            "House": "g",
            "Garden": HOUSE,
        }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "agent.toml is missing"),
        ("id = ", "agent.toml cannot be used"),
        ('id = "h"', "area is missing"),
        ('id = "h"\narea = " "', "area is missing"),
        (f'id = "h"\narea = "{"x" * 501}"', "area has more than 500"),
        ('id = "h"\narea = "a"\neffort = "lots"', "effort is one of"),
        ('id = "h"\narea = "a"\nworkdir = "/proc/none/here"', "cannot be made"),
    ],
)
async def test_a_childs_file_that_cannot_be_used_stops_the_start_with_its_name(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, text: str | None, said: str
) -> None:
    await started_once(tmp_path, memory, model)
    folder = agents_in(tmp_path) / "House"
    folder.mkdir()
    if text is not None:
        (folder / "agent.toml").write_text(text)

    why = await refused(tmp_path, memory, model)

    assert said in why
    assert str(folder) in why


async def test_a_copied_folder_stops_the_start_and_nothing_is_changed(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    root = await house_opened_once(tmp_path, memory, model)
    (agents_in(tmp_path) / "House").rename(agents_in(tmp_path) / "Away")
    agent_folder.make(agents_in(tmp_path), "Garden", root, area="The garden")

    assert "Garden holds the id of One" in await refused(tmp_path, memory, model)

    rows: list[Agent] = []
    await change_rows(tmp_path, lambda db: rows.extend(agent_rows.of_role(db, Role.CHILD)))
    assert [row.name for row in rows] == ["House"]


async def test_whatever_else_lies_among_the_folders_is_left_alone_and_half_made_ones_are_cleared_away(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    await started_once(tmp_path, memory, model)
    agents = agents_in(tmp_path)
    (agents / "lost+found").mkdir()
    (agents / "House.bak").mkdir()
    (agents / "notes.txt").write_text("mine")
    (agents / ".House-0123abcd").mkdir()
    (agents / ".House-0123abcd" / "agent.toml").write_text("id = ")

    async with living(tmp_path, memory, model) as house:
        assert children(house) == {}
        names = sorted(path.name for path in agents.iterdir())
        assert names == ["House.bak", "One", "lost+found", "notes.txt"]


async def test_a_root_that_takes_a_childs_name_is_refused(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    await house_opened_once(tmp_path, memory, model)

    for name in ("House", "HOUSE"):
        with pytest.raises(StartRefused, match="another agent's"):
            async with living(tmp_path, memory, model, settings={"name": name}):
                pass


async def test_a_changed_name_of_the_root_is_what_its_children_know_it_by(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    await started_once(tmp_path, memory, model)
    put_house(tmp_path)
    model.say("")

    async with living(tmp_path, memory, model, settings={"name": "Ada"}) as house:
        await house.say("it is cold", to=HOUSE)

        assert "under Ada, the personal agent" in model.requests()[-1].body["instructions"]
        assert {path.name for path in agents_in(tmp_path).iterdir()} == {"Ada", "House"}


async def test_a_folder_that_cannot_be_made_is_said_in_the_status_and_made_once_it_can_be(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """A full disk must not end the agents beside it."""
    root = await started_once(tmp_path, memory, model)
    await change_rows(tmp_path, lambda db: agent_rows.add(db, half_made(root), SystemClock().now()))
    in_the_way = agents_in(tmp_path) / "House"
    in_the_way.write_text("no folder")
    clock = ManualClock()
    model.say("still here")

    async with living(tmp_path, memory, model, clock=clock) as house:
        await until(lambda: _told(house))
        assert str(in_the_way) in next(iter(house.board.troubles().values())).sentence
        await house.say("hello")

        in_the_way.unlink()
        clock.advance(REFUSED_PAUSE_S)

        await ready(house, "House")
        assert house.board.troubles() == {}
        assert agent_folder.read(in_the_way).id == HOUSE


def test_a_folder_is_never_made_over_another_agents(tmp_path: Path) -> None:
    agents_in(tmp_path).mkdir(parents=True)
    put_house(tmp_path)

    with pytest.raises(StartRefused, match="another agent's folder"):
        agent_folder.make(agents_in(tmp_path), "House", AgentId("x"), area="The cellar")

    assert agent_folder.read(agents_in(tmp_path) / "House").area == AREA


def test_the_ready_line_names_the_children(tmp_path: Path) -> None:
    agents_in(tmp_path).mkdir(parents=True)
    put_house(tmp_path)

    with started("agent", tmp_path / "data", ONECHAT_WORKDIR=str(tmp_path / "work")) as service:
        assert service.ready["children"] == ["House"]


def test_a_childs_broken_file_is_a_line_on_the_error_output_that_names_it(tmp_path: Path) -> None:
    broken = agents_in(tmp_path) / "House" / "agent.toml"
    broken.parent.mkdir(parents=True)
    broken.write_text("id = ")

    code, said = start_in_vain("agent", tmp_path / "data", ONECHAT_WORKDIR=str(tmp_path / "work"))

    assert code == 2
    assert said.count("\n") == 1
    assert str(broken) in said


async def _told(house: House) -> bool:
    return bool(house.board.troubles())


class Barred(MemoryClient):
    """Makes no child's log until it is `opened`."""

    def __init__(self, inner: MemoryClient) -> None:
        self.__dict__.update(inner.__dict__)
        self.reached = asyncio.Event()
        self.opened = asyncio.Event()

    async def create_log(self, log: AgentId, label: str, *, flat: bool = False) -> None:
        if label != "One":
            self.reached.set()
            await self.opened.wait()
        await super().create_log(log, label, flat=flat)
