"""The shell under Landlock: the services' data and secrets are out of its reach, all else is not."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.delivery import TurnId
from onechat_agent.tools.fence import Fence
from onechat_agent.tools.landlock import grants, landlock_version
from onechat_agent.tools.shell import ShellTool, narrow_folders
from onechat_agent.tools.tool import CallContext
from onechat_runtime.clock import SystemClock

fenced = pytest.mark.skipif(landlock_version() == 0, reason="this kernel has no Landlock")


@pytest.fixture
def home(tmp_path):
    """A home with a working directory, a data folder with an agent's folder in it, a key, and other files."""
    agent = tmp_path / "data" / "agent" / "agents" / "One"
    agent.mkdir(parents=True)
    (agent / "instructions.md").write_text("be brief\n")
    (tmp_path / "data" / "store.db").write_text("the store")
    (tmp_path / ".env").write_text("KEY=1")
    (tmp_path / "letter.txt").write_text("dear\n")
    (tmp_path / "work").mkdir()
    (tmp_path / "docs").mkdir()
    return tmp_path


@pytest.fixture
def fence(home):
    return Fence(
        closed=(home / "data", home / ".env", home / "not-there"), agent_folders=(home / "data/agent/agents",)
    )


@pytest.fixture
def run(home, fence):
    shell = ShellTool(fence, environ=os.environ, clock=SystemClock(), landlock=landlock_version())
    context = CallContext(
        agent=AgentId("a1"),
        agent_name="One",
        memory_of=AgentId("a1"),
        turn=TurnId("1"),
        call_key="k",
        backed=True,
        tainted=False,
        hops=0,
        workdir=home / "work",
    )

    async def run(command, **turn):
        return (await shell.run(replace(context, **turn), {"command": command})).text

    return run


@fenced
@pytest.mark.parametrize(
    "command",
    [
        "cat ../data/store.db",
        "cat ../.env",
        "echo x > ../data/store.db",
        "echo x >> ../.env",
        "truncate -s 0 ../data/store.db",
        "rm -f ../data/store.db",
        "mv ../data/store.db here",
        "ln ../.env here",
        "cp ../data/store.db here",
        "ln -s ../data there && cat there/store.db",
        "cat /proc/self/root$PWD/../data/store.db",
        "echo x > ../data/new",
        "mv ../data ../moved",
        "setsid -w cat ../.env",
    ],
)
async def test_data_and_secrets_cannot_be_read_changed_or_moved(run, home, command):
    outcome = await run(command)

    assert "ermission denied" in outcome or "annot" in outcome or "Invalid cross-device link" in outcome
    assert (home / "data" / "store.db").read_text() == "the store"
    assert (home / ".env").read_text() == "KEY=1"
    assert {path.name for path in (home / "data").iterdir()} == {"agent", "store.db"}


@fenced
async def test_the_environment_and_memory_of_the_service_cannot_be_read(run):
    """Even as root: the kernel lets a fenced process look into none outside its fence."""
    outcome = await run(f"cat /proc/{os.getpid()}/environ; head -c 1 /proc/{os.getpid()}/mem")

    assert outcome.count("ermission denied") == 2


@fenced
async def test_all_else_works_as_it_does_without_a_fence(run, home):
    outcome = await run(
        "mkdir -p a/b && echo 1 > a/b/f && mv a/b/f a/g && cp a/g ../docs/h && mv ../docs/h a/h &&"
        "ln -s g a/s && cat a/s && rm -r a && echo more >> ../letter.txt && cat ../letter.txt &&"
        "ls .. && ls / > /dev/null &&"
        "git init -q repo && python3 -c 'print(40 + 2)'"
    )

    assert outcome == "1\ndear\nmore\ndata\ndocs\nletter.txt\nwork\n42"


@fenced
async def test_an_agents_own_files_can_be_changed_in_a_turn_of_the_user_alone(run, home):
    """No look at a command tells what it will change, so the kernel keeps them."""
    path = home / "data/agent/agents/One/instructions.md"
    change = f"cat {path}; echo more >> {path}; rm {path}; echo new > {path.parent}/agent.toml"

    tainted = await run(change, tainted=True)
    unbacked = await run(change, backed=False)
    kept = path.read_text()
    await run(f"echo more >> {path}")

    assert tainted.startswith("be brief\n")
    assert tainted.count("ermission denied") == unbacked.count("ermission denied") == 3
    assert kept == "be brief\n"
    assert path.read_text() == "be brief\nmore\n"


@fenced
async def test_agents_folders_apart_from_the_data_are_kept_as_well(home):
    """In a deployment they are mounted elsewhere."""
    (home / "agents").mkdir()
    (home / "agents" / "agent.toml").write_text("id = 1")
    shell = ShellTool(
        Fence(closed=(home / "data",), agent_folders=(home / "agents",)),
        environ=os.environ,
        clock=SystemClock(),
        landlock=landlock_version(),
    )
    context = CallContext(
        agent=AgentId("a1"),
        agent_name="One",
        memory_of=AgentId("a1"),
        turn=TurnId("1"),
        call_key="k",
        backed=True,
        tainted=True,
        hops=0,
        workdir=home / "work",
    )

    outcome = await shell.run(context, {"command": "cat ../agents/agent.toml; echo x > ../agents/agent.toml"})

    assert outcome.text.startswith("id = 1")
    assert "ermission denied" in outcome.text


@fenced
async def test_the_folders_in_which_nothing_can_be_made_are_named_to_the_model(run, home, fence):
    """Landlock knows grants only, so the folders above a closed one cannot be granted."""
    shell = ShellTool(fence, environ={}, clock=SystemClock(), landlock=landlock_version())

    outcome = await run("touch ../new")

    assert "ermission denied" in outcome
    assert str(home) in shell.schema["description"]
    assert home in narrow_folders(fence)
    assert home / "data" not in narrow_folders(fence)


async def test_without_landlock_the_model_is_told_of_no_such_folders(fence, home):
    shell = ShellTool(fence, environ={}, clock=SystemClock(), landlock=0)

    assert str(home) not in shell.schema["description"]


def test_what_is_granted_is_everything_beside_the_closed_paths(home):
    left_out = [str(home / "data" / "agent"), str(home / ".env")]
    (home / "link").symlink_to(home / "data")

    granted = {Path(path).relative_to(home).as_posix() for path in grants(str(home), left_out)}

    assert granted == {"work", "docs", "letter.txt", "data/store.db"}
