"""read, write and edit on real files."""

import asyncio
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.delivery import TurnId
from onechat_agent.tools.fence import Fence
from onechat_agent.tools.file_access import READ_MAX
from onechat_agent.tools.files import EditTool, ReadTool, WriteTool
from onechat_agent.tools.tool import CallContext


class Desk:
    """A working directory beside a data folder, and the three tools."""

    def __init__(self, root):
        self.work, self.data = root / "work", root / "data"
        self.agents = self.data / "agent" / "agents" / "One"
        self.work.mkdir()
        self.agents.mkdir(parents=True)
        (self.data / "store.db").write_text("the store")
        (root / ".env").write_text("KEY=1")
        self.fence = Fence(closed=(self.data, root / ".env"), agent_folders=(self.data / "agent" / "agents",))
        self.context = CallContext(
            agent=AgentId("a1"),
            agent_name="One",
            memory_of=AgentId("a"),
            turn=TurnId("1"),
            hops=0,
            call_key="t:1:1:c",
            backed=True,
            tainted=False,
            workdir=self.work,
        )

    async def read(self, path):
        return await ReadTool(self.fence).run(self.context, {"path": str(path)})

    async def write(self, path, text):
        return await WriteTool(self.fence).run(self.context, {"path": str(path), "text": text})

    async def edit(self, path, old, new):
        return await EditTool(self.fence).run(self.context, {"path": str(path), "old": old, "new": new})


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path)


async def test_a_file_is_read_from_the_working_directory_or_by_its_whole_path(desk, tmp_path):
    (desk.work / "notes.txt").write_text("héllo\r\n")
    (tmp_path / "other.txt").write_text("beside")

    assert (await desk.read("notes.txt")).text == "héllo\r\n"
    assert (await desk.read("../other.txt")).text == "beside"
    outcome = await desk.read(tmp_path / "other.txt")

    assert outcome.text == "beside"
    assert outcome.taints


async def test_an_empty_file_is_said_to_be_empty(desk):
    (desk.work / "empty").touch()

    assert (await desk.read("empty")).text.endswith("empty is empty)")


async def test_what_cannot_be_read_is_said_in_a_line(desk):
    (desk.work / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    (desk.work / "latin").write_bytes(b"na\xefve")
    (desk.work / "nul").write_bytes(b"a\0b")
    (desk.work / "loop").symlink_to("loop")
    with (desk.work / "large").open("wb") as large:
        large.truncate(READ_MAX + 1)
    expected = {
        ".": "it is a folder",
        "": "The path is empty",
        "gone.txt": "there is no such file",
        "gone/deeper.txt": "there is no such file",
        "latin/under": "not a directory",
        "picture.png": "not a text file in UTF-8 but a PNG image, 10 bytes",
        "latin": "not a text file in UTF-8",
        "nul": "not a text file in UTF-8",
        "large": "too large to be read whole (10,000,001 bytes",
        "loop": "lead in a circle",
        "n" * 300: "file name too long",
        "latin/": "ends in / is a folder",
        "~/notes": "~ is not understood here",
    }

    for path, said in expected.items():
        outcome = await desk.read(path)
        assert said in outcome.text, path
        assert outcome.failed
        assert not outcome.taints
        assert "\n" not in outcome.text


async def test_devices_pipes_and_sockets_are_refused_without_waiting(desk):
    """Opening a pipe that nobody writes to would wait for ever."""
    os.mkfifo(desk.work / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(desk.work / "socket"))
        async with asyncio.timeout(30):
            for path in ("pipe", "socket", "/dev/zero", "/dev/tty"):
                assert "no plain file" in (await desk.read(path)).text, path
                assert "no plain file" in (await desk.write(path, "x")).text, path
                assert "no plain file" in (await desk.edit(path, "x", "y")).text, path


async def test_stores_and_secrets_are_closed_however_the_path_is_spelled(desk, tmp_path):
    (desk.work / "link").symlink_to(desk.data / "store.db")
    (desk.work / "folder").symlink_to(desk.data)
    (desk.work / "new").symlink_to(desk.data / "new.db")
    (desk.work / "hard").hardlink_to(tmp_path / ".env")
    closed = [
        desk.data / "store.db",
        "../data/store.db",
        f"../{desk.work.name}/../data//./store.db",
        "link",
        "folder/store.db",
        "new",
        "../.env",
        "hard",
        f"/proc/self/root{desk.data}/store.db",
    ]

    for path in closed:
        for outcome in (
            await desk.read(path),
            await desk.write(path, "x"),
            await desk.edit(path, "the", "x"),
        ):
            assert "is closed to tools" in outcome.text, path

    assert (desk.data / "store.db").read_text() == "the store"
    assert not (desk.data / "new.db").exists()
    assert (tmp_path / ".env").read_text() == "KEY=1"


async def test_a_store_is_closed_through_a_descriptor_that_the_service_holds_open(desk):
    with (desk.data / "store.db").open() as held:
        outcome = await desk.read(f"/proc/self/fd/{held.fileno()}")

    assert "is closed to tools" in outcome.text


@pytest.mark.parametrize(
    "path", ["/proc/self/environ", "/proc/thread-self/environ", "/proc/1/environ", "/proc/self/mem"]
)
async def test_the_environment_of_a_process_is_closed(desk, path):
    """The service's own holds the model's key."""
    assert "is closed to tools" in (await desk.read(path)).text


async def test_files_of_the_kernel_can_be_read(desk):
    """They say that they are empty and are not."""
    assert "MemTotal" in (await desk.read("/proc/meminfo")).text


async def test_the_agents_own_folder_is_open_though_it_lies_among_the_data(desk):
    path = desk.agents / "instructions.md"

    await desk.write(path, "be brief")

    assert (await desk.read(path)).text == "be brief"


async def test_a_write_makes_folders_and_says_whether_something_was_there(desk):
    made = await desk.write("a/b/c.txt", "one é")
    replaced = await desk.write("a/b/c.txt", "two")

    path = desk.work / "a" / "b" / "c.txt"
    assert made.text == f"Made {path} (6 bytes)."
    assert replaced.text == f"Replaced {path} (3 bytes)."
    assert path.read_text() == "two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert list(path.parent.iterdir()) == [path]


async def test_a_write_keeps_the_mode_and_follows_links(desk):
    script = desk.work / "run.sh"
    script.write_text("old")
    script.chmod(0o751)
    (desk.work / "link").symlink_to("run.sh")

    await desk.write("link", "new")

    assert script.read_text() == "new"
    assert stat.S_IMODE(script.stat().st_mode) == 0o751
    assert (desk.work / "link").is_symlink()


async def test_a_reader_meets_the_old_text_or_the_new_one(desk):
    """The file is exchanged, never written over: an open one goes on showing what it showed."""
    path = desk.work / "notes"
    path.write_text("old")

    with path.open() as reader:
        await desk.write("notes", "new")

        assert reader.read() == "old"
    assert path.read_text() == "new"


async def test_what_cannot_be_written_is_said_in_a_line_and_nothing_is_left_behind(desk):
    (desk.work / "file").write_text("x")

    for path, said in {
        ".": "it is a folder",
        "file/under": "not a directory",
        "/proc/new": "/proc/new: ",
    }.items():
        outcome = await desk.write(path, "x")
        assert said in outcome.text, path
        assert outcome.failed
        assert "\n" not in outcome.text

    assert list(desk.work.iterdir()) == [desk.work / "file"]


async def test_an_edit_replaces_the_one_occurrence(desk):
    (desk.work / "notes").write_text("one\ntwo\r\nthree\n")

    outcome = await desk.edit("notes", "two\r\n", "2\n")

    assert outcome.text == f"Changed {desk.work / 'notes'} at line 2."
    assert (desk.work / "notes").read_bytes() == b"one\n2\nthree\n"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("x", "y", "`old` occurs 0 times"),
        ("a", "y", "`old` occurs 3 times"),
        ("aa", "y", "`old` occurs 2 times"),
        ("", "y", "`old` is empty"),
        ("aaa", "aaa", "are the same"),
    ],
)
async def test_an_edit_that_is_not_clear_changes_nothing_and_says_why(desk, old, new, said):
    """Places that overlap count each: either could be meant."""
    (desk.work / "notes").write_text("aaa\n")

    outcome = await desk.edit("notes", old, new)

    assert said in outcome.text
    assert "Nothing was changed." in outcome.text
    assert (desk.work / "notes").read_text() == "aaa\n"


async def test_edits_of_one_step_do_not_undo_one_another(desk):
    """Independent calls of a step run side by side."""
    (desk.work / "notes").write_text("".join(f"<{n}>" for n in range(20)))

    await asyncio.gather(*(desk.edit("notes", f"<{n}>", f"[{n}]") for n in range(20)))

    assert (desk.work / "notes").read_text() == "".join(f"[{n}]" for n in range(20))


async def test_a_working_directory_that_is_gone_is_a_missing_file(desk):
    desk.context = replace(desk.context, workdir=desk.work / "gone")

    assert "there is no such file" in (await desk.read("notes")).text


@pytest.mark.skipif(os.geteuid() != 0, reason="changes to an ordinary user, which only root can")
def test_an_ordinary_user_is_told_what_the_system_refuses():
    """Root may write anything, so the refusals are seen as somebody else."""
    locked = Path(tempfile.mkdtemp()) / "locked"
    locked.write_text("x")
    locked.chmod(0o444)
    program = (
        "import os, sys; from pathlib import Path; from onechat_agent.tools.fence import Fence;"
        "from onechat_agent.tools.file_access import FileRefused, read_text, replace_text;"
        "fence = Fence(closed=()); path = Path(sys.argv[1]); os.chmod(path.parent, 0o777);"
        "os.chown(path, 65534, 65534); os.setgid(65534); os.setuid(65534)\n"
        "shadow = Path('/etc/shadow')\n"
        "for act in (lambda: replace_text(path, 'y', fence), lambda: read_text(shadow, fence)):\n"
        "    try: act()\n"
        "    except FileRefused as refused: print(refused)"
    )

    said = subprocess.run([sys.executable, "-c", program, locked], capture_output=True, text=True, check=True)

    assert said.stdout.splitlines() == [
        f"{locked}: it is write-protected.",
        "/etc/shadow: permission denied.",
    ]
    assert locked.read_text() == "x"
    shutil.rmtree(locked.parent)
