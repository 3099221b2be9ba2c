"""instructions.md: what a prompt shows of it, whatever lies in its place."""

from pathlib import Path

import pytest
from onechat_agent.adapters.agent_folder import AgentFolder
from onechat_agent.domain.chat import AgentId
from onechat_agent.instructions import INSTRUCTIONS_MAX, instructions_text
from onechat_agent.tools.fence import Fence

from tests.fakes.agent_house import living
from tests.fakes.memory_server import MemoryServer
from tests.fakes.scripted_model import ScriptedModel, call

SECRET = "OPENAI_API_KEY=sk-1"


class Desk:
    """An agent's folder within the closed data folder, and a secret beside it."""

    def __init__(self, folder: Path) -> None:
        agents = folder / "data" / "agents"
        self.own = AgentFolder(path=agents / "One", id=AgentId("a"))
        self.own.path.mkdir(parents=True)
        self.secret = folder / ".env"
        self.secret.write_text(SECRET)
        self.file = self.own.instructions
        self.fence = Fence(closed=(folder / "data", self.secret), agent_folders=(agents,))

    def shown(self) -> str:
        return instructions_text(self.own, self.fence)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_the_file_is_shown_trimmed_and_a_missing_one_is_nothing(desk: Desk) -> None:
    assert desk.shown() == ""
    desk.file.write_text(" I like tea. \n")
    assert desk.shown() == "I like tea."


def test_a_link_to_a_file_of_the_users_is_followed(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "wishes.md").write_text("I like tea.")
    desk.file.symlink_to(tmp_path / "wishes.md")

    assert desk.shown() == "I like tea."


@pytest.mark.parametrize("hard", [False, True])
def test_a_link_to_a_secret_does_not_bring_it_into_the_prompt(desk: Desk, hard: bool) -> None:
    """The shell is kept out of secret files, and could otherwise have the service read them for it."""
    if hard:
        desk.file.hardlink_to(desk.secret)
        desk.file.rename(desk.secret.parent / "data" / "link")
        desk.file.symlink_to(desk.secret.parent / "data" / "link")
    else:
        desk.file.symlink_to(desk.secret)

    shown = desk.shown()

    assert SECRET not in shown
    assert "closed to tools" in shown


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"\xff\xfe", "it is not a text file in UTF-8"),
        (
            b"x" * (INSTRUCTIONS_MAX + 1),
            "too large to be read whole (200,001 bytes or more; at most 200,000)",
        ),
    ],
)
def test_a_file_that_cannot_be_shown_says_why_in_its_place(desk: Desk, content: bytes, why: str) -> None:
    """An agent that forgets all of the user's wishes at once has to be able to say so."""
    desk.file.write_bytes(content)

    shown = desk.shown()

    assert why in shown
    assert "Tell the user" in shown


async def test_a_pipe_in_its_place_keeps_no_turn_waiting(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    """Whoever opens a pipe waits for a writer, and with it would every agent of the service."""
    async with living(tmp_path, memory, model) as house:
        file = house.seat.protected[-1]
        model.call(call("shell", command=f"mkfifo {file}"))
        model.say("made")

        await house.say("make a pipe")

        assert file.is_fifo()
        assert "it is no plain file" in model.requests()[-1].body["instructions"]
