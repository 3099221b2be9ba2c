"""A chat with the demo model in the deployment, through restarts and a kill. The tests follow one another.

Nothing that was said may be lost, and nothing may stand in memory twice.
"""

import json
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from onechat.common.v1 import message_kind_pb2
from onechat.memory.v1 import memory_service_pb2, memory_service_pb2_grpc

from tests.contract.source_tree import SERVICES
from tests.deploy.test_containers import owner

pytestmark = pytest.mark.deploy


def said_by_the_user(deployment) -> list[str]:
    """Every message of the user in the root's log, oldest first, read from the memory service itself."""
    with deployment.channel("memory") as channel:
        memory = memory_service_pb2_grpc.MemoryServiceStub(channel)
        who = deployment.operator()
        logs = memory.ListLogs(memory_service_pb2.ListLogsRequest(), metadata=who, timeout=10).logs
        found = []
        for log in logs:
            asked = memory_service_pb2.ListMessagesRequest(log_id=log.log_id)
            for page in memory.ListMessages(asked, metadata=who, timeout=30):
                found += [m.text for m in page.messages if m.kind == message_kind_pb2.MESSAGE_KIND_USER]
        return found


def until_there(path: Path, within_s: float = 60.0) -> None:
    """Wait for a file that the agent's shell makes."""
    deadline = time.monotonic() + within_s
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} did not come"
        time.sleep(0.05)


def test_a_message_gets_an_answer(deployment):
    reply = deployment.send("hello, my cat is called Schnurri")

    assert "demo" in reply.lower()
    assert "hello, my cat is called Schnurri" in said_by_the_user(deployment)


def test_the_agents_shell_works_on_the_owners_files(deployment):
    """The working directory is the owner's own, and what the agent makes there is the owner's as well."""
    deployment.send("run echo from the agent > made.txt")

    made = deployment.folder / "workspace" / "made.txt"
    assert made.read_text() == "from the agent\n"
    assert made.stat().st_uid == owner()


def test_the_agents_shell_reads_no_token_and_no_secret(deployment):
    reply = deployment.send(
        "run cat /data/tokens/operator/token /run/secrets/openai_api_key /data/agent/store.db"
    )

    ((_, header),) = deployment.operator()
    assert header.removeprefix("Bearer ") not in reply


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_that_is_restarted_ends_well_and_the_chat_goes_on(deployment, name):
    deployment.compose("stop", name)
    ended = deployment.inspected(name)["State"]
    deployment.compose("start", name)
    if name == "agent":  # the one service that the command itself calls; the others may still be away
        deployment.until_serving(name)

    reply = deployment.send(f"{name} was away")

    assert ended["ExitCode"] == 0
    assert reply
    assert f"{name} was away" in said_by_the_user(deployment)


def test_memory_killed_in_the_middle_of_a_turn_loses_nothing(deployment):
    """The engine starts it again, and the turn waits for it and goes on."""
    workspace = deployment.folder / "workspace"
    before = deployment.inspected("memory")["RestartCount"]
    sending = deployment.starting(
        "onechat", "send", "--json", "--timeout", "100", "run touch began && sleep 3 && touch ended"
    )
    until_there(workspace / "began")

    deployment.crash("memory")
    reply, complaint = sending.communicate(timeout=110)

    assert sending.returncode == 0, complaint
    assert json.loads(reply)["reply"]
    assert (workspace / "ended").exists()
    assert deployment.inspected("memory")["RestartCount"] == before + 1
    assert "Schnurri" in deployment.send("what did I say about my cat?")


def test_everything_that_was_said_is_there_once_in_containers_that_are_new(deployment):
    """As after an update: the containers are made again, the volumes stay."""
    deployment.compose("down")
    deployment.up()

    said = Counter(said_by_the_user(deployment))

    expected = ["hello, my cat is called Schnurri", "run echo from the agent > made.txt"]
    expected += [f"{name} was away" for name in SERVICES]
    expected += ["run touch began && sleep 3 && touch ended", "what did I say about my cat?"]
    assert {text: said[text] for text in expected} == dict.fromkeys(expected, 1)


def test_the_chat_reads_lines_where_there_is_no_terminal(deployment):
    chat = deployment.command("exec", "-T", "agent", "onechat", "chat")

    ended = subprocess.run(
        chat,
        cwd=deployment.folder,
        input="hello again\n",
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )

    assert ended.returncode == 0, ended.stderr
    assert "demo" in ended.stdout.lower()


def test_status_says_that_all_is_well(deployment):
    """Telegram and WhatsApp that were never set up are nothing wrong."""
    said = deployment.inside("agent", "onechat", "status")

    assert all(name in said for name in SERVICES)
