"""`onechat memory search` against a real memory service, and one whose index is behind."""

import asyncio
import json

import pytest
from onechat_cli.adapters.memory import MemoryClient
from onechat_cli.commands.memory_search import search
from onechat_cli.outcome import Exit
from onechat_runtime.errors import RemoteError

from tests.fakes.clock import ManualClock
from tests.fakes.loopback import TOKENS, serving
from tests.fakes.memory_stand_ins import SlowIndex, standing_in


async def test_finds_are_lines_newest_first(server, tell, run):
    await tell("the dentist at nine", "nothing", "Ask the DENTIST\nagain")

    code, out, err = await run("search", "dentist")
    rows = json.loads((await run("search", "--json", "dentist", "nine"))[1])

    assert (code, err) == (Exit.OK, "")
    assert out.splitlines() == [
        "2  2026-01-01 10:00  user  Ask the DENTIST again",
        "0  2026-01-01 10:00  user  the dentist at nine",
    ]
    assert [row["id"] for row in rows["messages"]] == [0]
    assert rows["more"] is False


async def test_a_search_says_whether_there_is_more(server, tell, run):
    await tell(*(f"garden {number}" for number in range(5)))

    _, out, err = await run("search", "garden", "--most", 2)
    _, every, said = await run("search", "garden")

    assert [line.split()[-1] for line in out.splitlines()] == ["4", "3"]
    assert err == "onechat: There is more: --most 4 shows older messages too.\n"
    assert (len(every.splitlines()), said) == (5, "")


async def test_nothing_found_is_told_beside_an_empty_answer(server, tell, run):
    await tell("one")

    assert await run("search", "two") == (Exit.OK, "", "onechat: nothing found\n")


@pytest.fixture
async def search_in(capsys):
    """Searches in a stand-in, its waits over at once: how it ends, and what it said on stderr."""

    async def searched(servicer):
        async with (
            serving(standing_in(servicer)) as loopback,
            MemoryClient.connect(loopback.address, TOKENS["operator"]) as client,
        ):
            clock = ManualClock()
            searching = search(client, "log", "found", most=20, as_json=False, clock=clock)
            task = asyncio.ensure_future(searching)
            while not task.done():
                clock.advance(1)
                await asyncio.sleep(0.01)
            (ended,) = await asyncio.gather(task, return_exceptions=True)
            return ended, *capsys.readouterr()

    return searched


async def test_an_index_that_is_behind_is_waited_for_and_its_progress_told(search_in):
    ended, out, err = await search_in(SlowIndex(behind=6))

    assert (ended, out.split()[0]) == (Exit.OK, "7")
    assert err.splitlines()
    assert all(
        line.startswith("onechat: The search index holds 99") and line.endswith("of 1,000 messages so far")
        for line in err.splitlines()
    )


async def test_an_index_that_gets_no_further_is_not_waited_for(search_in):
    ended, out, _ = await search_in(SlowIndex(behind=10_000, stuck=True))

    assert isinstance(ended, RemoteError)
    assert (ended.reason, out) == ("INDEX_BEHIND", "")
