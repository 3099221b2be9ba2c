"""Starts that cannot work, with the real programs: one line that helps, an exit code, and nothing damaged.

What only the model's server can know, a wrong key or an unknown model, is said in the chat instead.
"""

import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from onechat.agent.v1 import event_pb2
from onechat.ops.v1 import ops_service_pb2, ops_service_pb2_grpc
from onechat_agent import sentences

from tests.fakes.bot_api import TOKEN
from tests.fakes.five_services import SERVICES, FiveServices, Forks, five_services, free_addresses
from tests.fakes.five_services_chat import Chat, chatting
from tests.fakes.five_services_model import ModelProcess, model_process

REFUSED = 2
KEY = "sk-test-0123456789abcdef0123456789abcdef"
SOMEBODY_ELSE = 12345


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """An onechat that was used before: an exchange is in its log."""

    services: FiveServices
    chat: Chat
    model: ModelProcess

    async def is_whole(self) -> bool:
        """Whether agent and memory start, remember, and answer."""
        await self.services.start(*(name for name in ("memory", "agent") if not self.services.running(name)))
        before = await self.chat.log()
        reply = await self.chat.ask("are you there?", key=f"again:{len(before)}")
        after = await self.chat.log()
        return before == after[: len(before)] and before[0].text == "hello" and "are you there" in reply


@asynccontextmanager
async def home_in(forks: Forks, folder: Path, *model_arguments: str, **environ: str) -> AsyncIterator[Home]:
    async with (
        model_process(forks, folder, *model_arguments) as model,
        five_services(forks, folder, OPENAI_BASE_URL=model.base_url, **environ) as services,
        chatting(services) as chat,
    ):
        await services.start("memory", "agent")
        yield Home(services=services, chat=chat, model=model)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def used(forks: Forks, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Home]:
    """One for all tests: whatever a start that is refused does, it leaves it as it was."""
    async with home_in(forks, tmp_path_factory.mktemp("used")) as opened:
        await opened.chat.ask("hello", key="first")
        yield opened


@pytest_asyncio.fixture(loop_scope="module")
async def home(used: Home) -> Home:
    """It, with its memory alone at work."""
    for name in SERVICES:
        if name != "memory" and used.services.running(name):
            await used.services.stop(name)
    if not used.services.running("memory"):
        await used.services.start("memory")
    return used


def only_line(refusal: tuple[int | None, list[str]], name: str) -> str:
    """What the refused start of `name` said, without its name."""
    code, lines = refusal
    assert code == REFUSED
    assert len(lines) == 1, lines
    assert lines[0].startswith(f"onechat {name}: ")
    return lines[0].removeprefix(f"onechat {name}: ")


@pytest.mark.asyncio(loop_scope="module")
async def test_a_second_start_on_the_same_data_names_the_first_one(home: Home) -> None:
    services = home.services
    await services.start("agent", "whatsapp", "telegram", "scheduler")
    others = free_addresses(len(SERVICES))
    for name, address in zip(SERVICES, others, strict=True):
        line = only_line(await services.refuse(name, **{f"ONECHAT_{name.upper()}_ADDRESS": address}), name)

        assert f"in use by process {services.process(name).pid}" in line
    assert await home.is_whole()


@pytest.mark.asyncio(loop_scope="module")
async def test_a_port_in_use_and_a_broken_env_file_are_a_line_each_of_every_service(home: Home) -> None:
    services = home.services
    await services.stop("memory")
    for name in SERVICES:
        with socket.socket() as held:
            host, _, port = services.addresses[name].rpartition(":")
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            held.bind((host, int(port)))
            held.listen()
            assert "cannot be listened on" in only_line(await services.refuse(name), name)
    (services.folder / ".env").write_text("ONECHAT_LOG=info\nnot a line\n")
    for name in SERVICES:
        assert ".env, line 2" in only_line(await services.refuse(name), name)
    (services.folder / ".env").unlink()

    assert await home.is_whole()


@pytest.mark.asyncio(loop_scope="module")
async def test_a_data_folder_of_another_user_is_left_alone(home: Home, tmp_path: Path) -> None:
    theirs = Path("/")
    if os.geteuid() == 0:
        theirs = tmp_path / "theirs"
        theirs.mkdir()
        os.chown(theirs, SOMEBODY_ELSE, SOMEBODY_ELSE)
    before = sorted(theirs.iterdir())

    for name in SERVICES:
        line = only_line(await home.services.refuse(name, ONECHAT_DATA=str(theirs)), name)
        assert "belongs to another user" in line
    assert sorted(theirs.iterdir()) == before
    assert await home.is_whole()


@pytest.mark.asyncio(loop_scope="module")
async def test_a_full_disk_is_said_and_harms_nothing_that_is_there(home: Home, tmp_path: Path) -> None:
    for name in ("agent", "memory", "telegram"):
        new = {"ONECHAT_DATA": str(tmp_path / f"new-{name}")}

        line = only_line(await home.services.refuse(name, file_limit=8192, **new), name)

        assert line.startswith("The disk that holds ")
        assert "free some space" in line
    line = only_line(await home.services.refuse("agent", file_limit=8192), "agent")
    assert line.startswith("The disk that holds ")
    assert await home.is_whole()


@pytest.mark.asyncio(loop_scope="module")
async def test_without_the_agents_folder_nobody_is_made_anew(home: Home) -> None:
    """A mount that did not come up must not make everybody forgotten."""
    agents = home.services.data / "agent" / "agents"
    agents.rename(agents.with_name("elsewhere"))

    line = only_line(await home.services.refuse("agent"), "agent")

    assert str(agents / "One") in line
    assert "start again; nothing was changed" in line
    assert not agents.exists()
    agents.with_name("elsewhere").rename(agents)
    assert await home.is_whole()


@pytest.mark.asyncio(loop_scope="module")
async def test_without_a_key_rules_do_not_go_on_with_what_a_model_wrote(home: Home) -> None:
    """A lost .env must not let the demo model write the memory."""
    line = only_line(await home.services.refuse("agent", OPENAI_BASE_URL=""), "agent")

    assert line == sentences.DEMO_REFUSED
    assert await home.is_whole()


async def test_without_a_key_a_new_store_begins_with_the_demo_model_which_says_so(
    forks: Forks, tmp_path: Path
) -> None:
    async with five_services(forks, tmp_path) as services, chatting(services) as chat:
        await services.start("memory", "agent")
        reply = await chat.ask("hello", key="first")
        asked: Any = ops_service_pb2_grpc.SnapshotServiceStub(services.channel())
        info = await asked.GetInfo(ops_service_pb2.GetInfoRequest(), timeout=20)

        assert reply.startswith("Demo model: ")
        assert sentences.DEMO_ANSWERS in info.remarks


@pytest.mark.asyncio(loop_scope="module")
async def test_all_faults_of_the_settings_are_said_at_once(home: Home) -> None:
    code, lines = await home.services.refuse(
        "agent", ONECHAT_TIME_ZONE="Rome", ONECHAT_EFFORT="some", ONECHAT_LOG="loud", OPENAI_API_KEY="a b"
    )

    assert code == REFUSED
    assert {line.split()[2] for line in lines} >= {"ONECHAT_TIME_ZONE", "ONECHAT_EFFORT", "ONECHAT_LOG"}
    assert "a b" not in "".join(lines)
    assert await home.is_whole()


async def test_a_wrong_key_is_told_once_in_the_chat_and_stands_in_no_log(
    forks: Forks, tmp_path: Path
) -> None:
    async with home_in(forks, tmp_path, OPENAI_API_KEY=KEY, TELEGRAM_TOKEN=TOKEN) as home:
        fault = {"status": 401, "code": "invalid_api_key", "message": f"Incorrect API key provided: {KEY}."}
        await home.model.script({"http": fault, "times": 0})
        said = [await home.chat.ask(f"message {number}", key=f"k{number}") for number in range(3)]

        assert said == [sentences.MODEL_KEY] * 3
        assert notices(home.chat) == [sentences.MODEL_KEY]
        await home.model.forget_scripts()
        assert "message 3" in await home.chat.ask("message 3", key="k3")
        logs = [path.read_text() for path in tmp_path.glob("*.log")]
        assert not [log for log in logs if KEY in log or TOKEN in log]


async def test_an_unknown_model_is_told_once_in_the_chat(forks: Forks, tmp_path: Path) -> None:
    async with home_in(forks, tmp_path, "--models", "real-1", ONECHAT_MODEL="typo-1") as home:
        said = [await home.chat.ask(f"message {number}", key=f"k{number}") for number in range(2)]

        sentence = sentences.MODEL_UNKNOWN.format(model="typo-1")
        assert said == [sentence] * 2
        assert notices(home.chat) == [sentence]
        await home.services.stop("agent")
        home.services.environ["ONECHAT_MODEL"] = "real-1"
        await home.services.start("agent")
        assert "message 2" in await home.chat.ask("message 2", key="k2")


def notices(chat: Chat) -> list[str]:
    """What onechat itself said; every turn that it said it for has failed."""
    assert [event.turn_change.state for event in chat.events if event.turn_change.answered] == [
        event_pb2.TurnChange.STATE_FAILED
    ] * sum(event.turn_change.state == event_pb2.TurnChange.STATE_FAILED for event in chat.events)
    return [event.notice.text for event in chat.events if event.HasField("notice")]
