"""`onechat memory view`, `zoom` and `stats` against a real memory service; the fake agent names the root."""

import asyncio
import json
import os
import pty
import subprocess
import sys

import pytest
from onechat_cli.outcome import CommandFailed, Exit
from onechat_runtime.errors import RemoteError

from tests.fakes.agent_clients import ROOT
from tests.fakes.memory_server import new_message
from tests.fakes.pictures import PNG

NOBODY = "127.0.0.1:9"


# Which log


async def test_the_root_is_meant_unless_another_log_is_named(server, tell, run):
    await server.create("house", label="House")
    await tell("of the root")
    await tell("of the house", log="house")

    assert "of the root" in (await run("view"))[1]
    assert "of the house" in (await run("view", "--log", "house"))[1]
    assert "of the root" in (await run("view", "--agent", "one"))[1]


async def test_an_agent_that_is_not_there_is_said_with_those_that_are(run):
    with pytest.raises(CommandFailed, match=r"No agent is called House\. There are: One"):
        await run("view", "--agent", "House")


async def test_without_the_agent_service_the_only_live_tree_is_the_roots(server, tell, run):
    await server.create("sub", shape="LOG_SHAPE_FLAT")
    await server.create("import", state="LOG_STATE_STAGED")
    await tell("of the root")

    code, out, _ = await run("view", ONECHAT_AGENT_ADDRESS=NOBODY)

    assert (code, "of the root" in out) == (Exit.OK, True)


async def test_where_it_cannot_be_told_which_log_is_the_roots_it_must_be_named(server, tell, run):
    await server.create("house", label="House")

    with pytest.raises(CommandFailed, match=r"--log: house \(House\), root-id \(One\)"):
        await run("view", ONECHAT_AGENT_ADDRESS=NOBODY)
    with pytest.raises(CommandFailed, match="--log"):
        await run("view", "--agent", "House", ONECHAT_AGENT_ADDRESS=NOBODY)
    assert (await run("view", "--log", "house", ONECHAT_AGENT_ADDRESS=NOBODY))[0] == Exit.OK


async def test_a_log_that_is_not_there_and_a_service_that_is_away_say_what_to_do(run):
    with pytest.raises(CommandFailed, match="onechat memory stats --all"):
        await run("view", "--log", "none")
    with pytest.raises(CommandFailed, match="onechat up"):
        await run("view", "--log", "none", ONECHAT_MEMORY_ADDRESS=NOBODY)


# View


async def test_the_view_is_printed_as_the_agent_reads_it(server, tell, run):
    await tell("first", "second \x1b[31m| line")
    await server.build_all()

    code, out, err = await run("view")

    assert (code, err) == (Exit.OK, "")
    assert out == (await server.view(ROOT)).text + "\n"


async def test_lines_that_are_not_written_yet_are_told_beside_the_answer(server, tell, run):
    await tell("long " * 200, "short")

    _, out, err = await run("view")

    assert "0+1|(not summarized yet: zoom it)" in out
    assert err == "onechat: 1 of 2 lines are not written yet.\n"


async def test_a_view_as_json_has_its_lines_apart(server, tell, run):
    await tell("first", "long " * 200)

    _, out, _ = await run("view", "--json")

    found = json.loads(out)
    assert found["lines"][0] == {"first_id": 0, "count": 1, "text": "user: first"}
    assert (found["log"], found["messages"], found["unbuilt_lines"], found["generation"]) == (ROOT, 2, 1, 1)


async def test_a_flat_log_has_no_view_and_says_how_it_is_read(server, tell, run):
    await server.create("sub", shape="LOG_SHAPE_FLAT")

    with pytest.raises(CommandFailed, match="onechat memory zoom --log sub"):
        await run("view", "--log", "sub")


# Zoom


async def test_a_zoom_shows_the_two_lines_below(server, tell, run):
    await tell(*(f"message {number}" for number in range(8)))
    await server.build_all()

    code, out, err = await run("zoom", "0+2")
    row = json.loads((await run("zoom", "0+2", "--json"))[1])

    assert (code, out, err) == (Exit.OK, "0+1|user: message 0\n1+1|user: message 1\n", "")
    assert row["lines"][1] == {"first_id": 1, "count": 1, "text": "user: message 1", "built": True}


async def test_a_message_is_shown_whole_with_what_is_known_of_it(server, tell, run):
    name = (await server.put_image(PNG)).name
    text = "a\tlong " * 200 + "\n\nend"
    told = new_message("k", text, source="whatsapp:1@x", turn="t", step=2, images=[name], zone="Europe/Rome")
    await server.append(told, log=ROOT)

    _, out, _ = await run("zoom", "0")
    row = json.loads((await run("zoom", "0", "--json"))[1])["messages"][0]

    about, _, body = out.partition("\n\n")
    assert body == f"{text}\n"
    assert [line.split(maxsplit=1)[1] for line in about.splitlines()] == [
        *("0", "user", "2026-01-01 10:00:00 +01:00 Europe/Rome", "whatsapp:1@x", "t step 2", name)
    ]
    assert (row["text"], row["images"], row["time"]) == (text, [name], "2026-01-01T09:00:00Z")


async def test_a_line_that_is_not_there_gets_the_services_own_sentence(server, tell, run):
    await tell("one")

    with pytest.raises(RemoteError, match="no line 41") as refused:
        await run("zoom", "41+8")

    assert refused.value.reason == "LINE_UNKNOWN"


async def test_a_flat_log_is_read_page_by_page(server, tell, run):
    await server.create("sub", shape="LOG_SHAPE_FLAT")
    texts = [f"{number} " + "w" * 20_000 for number in range(3)]
    await tell(*texts, log="sub")

    _, first, remark = await run("zoom", "--log", "sub")
    _, second, end = await run("zoom", "--log", "sub", "--page", 1)

    assert first.splitlines() == ["0|user 2026-01-01 10:00:00 +01:00 Europe/Rome", texts[0]]
    assert remark == "onechat: More follows: --page 1\n"
    assert second.splitlines()[1] == texts[1]
    assert "--page 2" in end


# Stats


async def test_stats_are_the_logs_figures(server, tell, run):
    await tell(*(f"message {number}" for number in range(8)), "long " * 200)
    await server.build_all()

    code, out, err = await run("stats")
    row = json.loads((await run("stats", "--json"))[1])

    kept = await server.stats(ROOT)
    assert (code, err) == (Exit.OK, "")
    assert any(line.split() == ["messages", "9"] for line in out.splitlines())
    assert (row["log"]["length"], row["built"], row["view_bytes"]) == (9, kept.built_nodes, kept.view_bytes)


async def test_all_logs_are_a_table(server, tell, run):
    await server.create("sub", shape="LOG_SHAPE_FLAT", label="a task")
    await tell("one")

    _, out, _ = await run("stats", "--all")
    rows = json.loads((await run("stats", "--all", "--json"))[1])["logs"]

    assert [line.split()[0] for line in out.splitlines()] == ["LOG", ROOT, "sub"]
    assert [(row["id"], row["shape"], row["length"]) for row in rows] == [
        (ROOT, "tree", 1),
        ("sub", "flat", 0),
    ]


async def test_the_table_of_logs_needs_no_agent_service(run):
    assert (await run("stats", "--all", ONECHAT_AGENT_ADDRESS=NOBODY))[0] == Exit.OK


# As a command


async def on_a_terminal(with_memory, tmp_path, *line):
    """Exit code and what a terminal gets of `onechat memory LINE`."""
    master, slave = pty.openpty()
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ONECHAT_")}
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "onechat_cli", "memory", *line),
            cwd=tmp_path,
            env={**clean, **with_memory},
            stdout=slave,
            stderr=subprocess.PIPE,
        )
    finally:
        os.close(slave)
    said = asyncio.to_thread(_all_of, master)
    shown, _ = await asyncio.gather(said, process.communicate())
    return process.returncode, shown.decode()


def _all_of(master):
    parts = []
    try:
        while part := os.read(master, 65_536):
            parts.append(part)
    except OSError:  # the last one closed it
        pass
    os.close(master)
    return b"".join(parts)


@pytest.mark.parametrize(
    "line", [["view"], ["zoom", "0"], ["export"], ["search", "mail"], ["view", "--json"]]
)
async def test_nothing_that_a_text_holds_acts_on_a_terminal(tell, with_memory, tmp_path, line):
    await tell("mail \x1b[2J\x9b31m\x1b]52;c;Zm9v\x07 \u202e end")

    code, shown = await on_a_terminal(with_memory, tmp_path, *line)

    assert code == Exit.OK
    assert "mail" in shown
    assert not set(shown) & set("\x1b\x9b\x07\u202e")
