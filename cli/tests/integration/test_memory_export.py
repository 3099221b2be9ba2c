"""`onechat memory export` against a real memory service, and ones that go away or change meanwhile."""

import asyncio
import json
import os
import stat
import subprocess
import sys

import pytest
from onechat.memory.v1 import message_pb2
from onechat_cli.outcome import CommandFailed, Exit
from onechat_runtime.errors import RemoteError

from tests.fakes.agent_clients import ROOT
from tests.fakes.loopback import serving
from tests.fakes.memory_stand_ins import Breaking, Replaced, standing_in


async def test_an_export_has_every_message_with_every_field(server, tell, run, tmp_path):
    long = "\n".join(f"{number} " + "w" * 900 for number in range(60))
    await tell("one \x1b[31m\u2028 two", long, "three")
    file = tmp_path / "chat.jsonl"

    code, out, err = await run("export", file)

    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n")[:-1]]
    kept = await server.messages(log=ROOT)
    assert (code, out, err) == (Exit.OK, "", "")
    assert [row["id"] for row in rows] == list(range(len(kept)))
    assert [(row["text"], row["key"], row["part"], row["parts"]) for row in rows] == [
        (one.text, one.key, one.part, one.parts) for one in kept
    ]
    assert {row["parts"] for row in rows} == {1, 2}
    assert set(rows[0]) == {field.name for field in message_pb2.Message.DESCRIPTOR.fields}
    assert (rows[0]["time"], rows[0]["zone"]) == ("2026-01-01T09:00:00Z", "Europe/Rome")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert (await run("export"))[1] == file.read_text(encoding="utf-8")


async def test_a_part_of_a_log_is_named_by_its_first_and_last_message(server, tell, run):
    await tell(*(f"message {number}" for number in range(6)))

    _, out, _ = await run("export", "--from", 2, "--to", 4)

    assert [json.loads(line)["id"] for line in out.splitlines()] == [2, 3, 4]
    with pytest.raises(RemoteError, match="not in the log"):
        await run("export", "--to", 6)


async def test_an_empty_log_is_an_empty_export(run, tmp_path):
    assert await run("export", tmp_path / "none.jsonl") == (Exit.OK, "", "")
    assert (tmp_path / "none.jsonl").read_bytes() == b""


async def test_a_file_that_is_there_is_replaced_by_force_alone(server, tell, run, tmp_path):
    await tell("one")
    file = tmp_path / "chat.jsonl"
    file.write_text("a person's own")

    with pytest.raises(CommandFailed, match="--force"):
        await run("export", file)
    kept = file.read_text()
    await run("export", "--force", file)

    assert kept == "a person's own"
    assert json.loads(file.read_text())["text"] == "one"


@pytest.mark.parametrize("place", ["", "none/chat.jsonl"])
async def test_a_place_where_no_file_can_be_is_said(run, tmp_path, place):
    with pytest.raises(CommandFailed, match=str(tmp_path)):
        await run("export", tmp_path / place)


@pytest.mark.parametrize("before", [None, "an older export"])
async def test_a_broken_connection_leaves_no_half_file(run, tmp_path, before):
    folder = tmp_path / "exports"
    folder.mkdir()
    file = folder / "chat.jsonl"
    if before is not None:
        file.write_text(before)

    async with serving(standing_in(Breaking())) as loopback:
        with pytest.raises(CommandFailed, match="after 3 messages"):
            await run("export", "--force", file, ONECHAT_MEMORY_ADDRESS=loopback.address)

    assert [path.name for path in folder.iterdir()] == ([] if before is None else ["chat.jsonl"])
    assert before is None or file.read_text() == before


async def test_a_log_that_is_replaced_meanwhile_is_not_exported(run, tmp_path):
    """Half of each would look like one log."""
    async with serving(standing_in(Replaced())) as loopback:
        with pytest.raises(CommandFailed, match="replaced"):
            await run("export", tmp_path / "chat.jsonl", ONECHAT_MEMORY_ADDRESS=loopback.address)

    assert not (tmp_path / "chat.jsonl").exists()


async def test_a_reader_that_has_had_enough_is_no_error(tell, with_memory, tmp_path):
    await tell(*(f"{number} " + "w" * 3_000 for number in range(60)))
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ONECHAT_")}
    line = f"{sys.executable} -m onechat_cli memory export | head -c 10; exit ${{PIPESTATUS[0]}}"

    shell = await asyncio.create_subprocess_exec(
        *("bash", "-c", line),
        cwd=tmp_path,
        env={**clean, **with_memory},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, err = await shell.communicate()

    assert (shell.returncode, len(out), err) == (0, 10, b"")
