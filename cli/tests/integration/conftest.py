"""A fake agent service on loopback, a real memory service, and settings of a command that calls them."""

from itertools import count

import pytest
import structlog
from onechat_cli.adapters.agent import AgentClient
from onechat_cli.arguments import parser
from onechat_cli.commands.memory import memory as run_memory
from onechat_cli.config import settings_from
from onechat_runtime import logs

from tests.fakes.agent_clients import ROOT, ChatAgent
from tests.fakes.agent_servicer import agent_serving
from tests.fakes.loopback import TOKENS
from tests.fakes.memory_server import new_message, remembering

NOBODY = "127.0.0.1:9"  # the discard port: nothing listens there


@pytest.fixture(autouse=True)
def no_log_lines():
    """The fake service shares the command's process, and its log would stand among the command's output."""
    logs.configure("test", "error", json=False)
    yield
    structlog.reset_defaults()


@pytest.fixture
def agent():
    return ChatAgent()


@pytest.fixture
async def service(agent):
    """The fake agent, serving."""
    async with agent_serving(agent) as loopback:
        yield loopback


@pytest.fixture
def variables(tmp_path, service):
    """The environment of a command: its data folder, the operator's token, where the agent is."""
    token = tmp_path / "operator"
    token.write_text(TOKENS["operator"])
    elsewhere = {
        f"ONECHAT_{name}_ADDRESS": NOBODY for name in ("MEMORY", "WHATSAPP", "TELEGRAM", "SCHEDULER")
    }
    return {
        "ONECHAT_DATA": str(tmp_path / "data"),
        "ONECHAT_TOKEN_FILE": str(token),
        "ONECHAT_AGENT_ADDRESS": service.address,
        **elsewhere,
    }


@pytest.fixture
def settings(variables):
    return settings_from(variables)


@pytest.fixture
async def client(service):
    """The command's client of the fake agent."""
    async with AgentClient.connect(service.address, TOKENS["operator"]) as connected:
        yield connected


@pytest.fixture
async def server(tmp_path):
    """A memory service with the root's log, empty."""
    async with remembering(tmp_path / "kept") as running:
        await running.create(ROOT, label="One")
        yield running


@pytest.fixture
def tell(server):
    """Appends messages of the user, written in Rome, to the root's log or another one."""
    numbers = count()

    async def told(*texts, log=ROOT):
        messages = [new_message(f"cli:{next(numbers)}", text, zone="Europe/Rome") for text in texts]
        await server.append(*messages, log=log)

    return told


@pytest.fixture
def with_memory(variables, server):
    """The environment of a command that finds both services."""
    return {**variables, "ONECHAT_MEMORY_ADDRESS": server.address}


@pytest.fixture
def run(with_memory, capsys):
    """Runs a part of `onechat memory`: its exit code, its stdout, its stderr."""

    async def ran(*line, **others):
        chosen = parser().parse_args(["memory", *map(str, line)])
        code = await run_memory(settings_from({**with_memory, **others}), chosen)
        return code, *capsys.readouterr()

    return ran
