"""A fake agent service on loopback, and settings of a command that calls it."""

import pytest
import structlog
from onechat_cli.adapters.agent import AgentClient
from onechat_cli.config import settings_from
from onechat_runtime import logs

from tests.fakes.agent_clients import ChatAgent
from tests.fakes.agent_servicer import agent_serving
from tests.fakes.loopback import TOKENS

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
