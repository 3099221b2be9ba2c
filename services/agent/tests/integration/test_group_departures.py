"""A group's agent whose folder was taken away: its memory is set aside, and nothing of it is the root's."""

import shutil
from pathlib import Path

import pytest
from onechat.memory.v1 import log_pb2
from onechat_agent.domain.limits import Limits
from onechat_runtime.errors import RemoteError, StartRefused

from tests.fakes.agent_house import living
from tests.fakes.child_folders import agents_in, until
from tests.fakes.group_house import SOURCE, admit, admitted
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import ScriptedModel

CLOSED = Limits(tokens_per_day=1)  # what is meant for the agent stays queued


async def test_the_user_is_told_its_log_is_kept_and_what_waited_for_it_is_nobodys(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    model.say("one")
    async with living(tmp_path, memory, model, limits=CLOSED) as house, admitted(house) as group:
        await group.ask("hello")
        await group.write("a secret of the group")
    shutil.rmtree(agents_in(tmp_path) / "Group1")

    async with living(tmp_path, memory, model, after=0) as house:
        await house.seen.until(lambda seen: any("Friends" in text for text in seen.notices()))

        async def is_kept() -> bool:
            return any(log.state == log_pb2.LOG_STATE_KEPT for log in (await memory.logs()).values())

        await until(is_kept)
        assert await house.lines() == []
        assert not any("secret" in record.raw.decode() for record in model.requests()[1:])


async def test_what_still_comes_for_one_that_is_gone_is_refused_and_a_new_one_takes_its_place(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        old = await admit(house)
    shutil.rmtree(agents_in(tmp_path) / "Group1")

    async with living(tmp_path, memory, model) as house:
        with pytest.raises(RemoteError) as refused:
            await house.deliver("hello", caller="telegram", to=old.agent_id, source=SOURCE)
        assert refused.value.reason == "DELIVERY_INVALID"
        async with admitted(house) as group:
            await group.write("hello", wakes=False, to=old.agent_id)

            await house.logged(f"work: [Telegram] {SOURCE}:\n| hello", of="Group2")
            assert group.agent.agent_id != old.agent_id
            assert await house.lines() == []


async def test_a_folder_that_comes_back_is_its_group_again(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        old = await admit(house)
    folder = agents_in(tmp_path) / "Group1"
    folder.rename(tmp_path / "away")
    async with living(tmp_path, memory, model):
        pass
    (tmp_path / "away").rename(folder)

    async with living(tmp_path, memory, model) as house:
        again = await admit(house)

        assert (again.agent_id, again.name) == (old.agent_id, "Group1")


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda text: text.replace("source", "#source"), "source is missing"),
        (lambda text: text.replace(SOURCE, "telegram:-9"), "another group"),
        (lambda text: text.replace("#tools = []", 'tools = ["spawn"]'), "tools is a list of some of"),
    ],
)
async def test_a_folder_that_cannot_be_right_stops_the_start_and_is_named(
    tmp_path: Path,
    memory: MemoryServer,
    model: ScriptedModel,
    change,  # type: ignore[no-untyped-def]
    word: str,
) -> None:
    async with living(tmp_path, memory, model) as house:
        await admit(house)
    file = agents_in(tmp_path) / "Group1" / "agent.toml"
    file.write_text(change(file.read_text()))

    with pytest.raises(StartRefused, match=word) as refused:
        async with living(tmp_path, memory, model):
            pass

    assert "Group1" in str(refused.value)


async def test_two_folders_of_one_group_stop_the_start(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await admit(house)
    twin = agents_in(tmp_path) / "Group2"
    shutil.copytree(agents_in(tmp_path) / "Group1", twin)
    text = (twin / "agent.toml").read_text()
    (twin / "agent.toml").write_text(f'id = "another"\n{text.partition(chr(10))[2]}')

    with pytest.raises(StartRefused, match="of the same group"):
        async with living(tmp_path, memory, model):
            pass


async def test_a_group_agent_is_not_taken_for_a_child_nor_a_child_for_one(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await admit(house)
    (agents_in(tmp_path) / "Group1").rename(agents_in(tmp_path) / "House")

    with pytest.raises(StartRefused):
        async with living(tmp_path, memory, model):
            pass
