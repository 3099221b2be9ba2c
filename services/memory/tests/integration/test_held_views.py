"""What is held in memory beside the tables is never ahead of them and never behind."""

import asyncio
import random

import apsw
import pytest
from onechat_memory.adapters import contract_in
from onechat_memory.adapters.log_store import LogStore
from onechat_memory.bells import Bells
from onechat_memory.chat_log import ChatLog
from onechat_memory.chat_logs import ChatLogs
from onechat_memory.domain.leases import LogId
from onechat_memory.domain.tree import leaf
from onechat_memory.errors import NodeBuilt, NodeUnknown
from onechat_runtime.errors import RemoteError

from tests.fakes.memory_server import LOG, new_message

LIMITS = {
    "chat_view": {"high_bytes": 4_000, "low_bytes": 2_000},
    "compaction_view": {"high_bytes": 1_600, "low_bytes": 800},
}


def fresh(memory, clock) -> ChatLogs:
    """All logs of the same store with nothing held yet."""
    return ChatLogs(memory.store, clock, Bells(clock))


def committed(memory):
    """The row of the test's log, as it is on disk."""
    return memory.store.read(lambda db: LogStore(db).log(LogId(LOG)))


def give_the_transaction_up(db: apsw.Connection) -> None:
    """What a full disk does, in a way that a test can see."""
    db.execute("ROLLBACK")
    raise ZeroDivisionError


async def one_commit(store, *jobs):
    """What each of `jobs` gave, all of them in one commit."""
    hold = await store.hold()
    tasks = [asyncio.ensure_future(job) for job in jobs]
    await asyncio.sleep(0)  # each stands in the queue now
    hold.end()
    return await asyncio.gather(*tasks, return_exceptions=True)


async def test_the_shown_view_is_that_of_the_rows_after_every_kind_of_change(memory, clock):
    dice = random.Random(11)
    await memory.create("all", **LIMITS)

    for number in range(70):
        words = [dice.choice("abcdé") * dice.choice((1, 40, 200, 700)) for _ in range(dice.randint(1, 4))]
        await memory.append(*words, log="all")
        if number % 3 == 0 and (leased := await memory.lease("builder")).pieces:
            for piece in leased.pieces:
                line = f"line of {piece.first_id}\n" + "l" * dice.randint(1, 450)
                await memory.complete(f"{piece.first_id}+{piece.count}", line, log="all")

        live, loaded = await memory.view("all"), await fresh(memory, clock).fitted_view(LogId("all"))

        assert (live.text, live.bytes, live.lines) == (loaded.text, loaded.size, loaded.lines)
        assert (live.unbuilt_lines, live.length) == (loaded.unbuilt, loaded.length)
        assert live.text.count("(not summarized yet: zoom it)") == live.unbuilt_lines
    assert (await memory.stats("all")).batches >= 3


async def test_an_unchanged_view_is_given_again_while_the_writing_thread_is_busy(memory):
    await memory.append("one")
    before = await memory.view()

    hold = await memory.store.hold()
    again = await memory.view()
    hold.end()

    assert again == before


async def test_a_change_of_any_kind_is_in_the_next_view(memory):
    await memory.append("x" * 600)
    first = await memory.view()
    await memory.complete("0+1", "its line")
    second = await memory.view()
    await memory.append("two")
    third = await memory.view()

    assert [view.text.splitlines()[1:-1] for view in (first, second, third)] == [
        ["0+1|(not summarized yet: zoom it)"],
        ["0+1|its line"],
        ["0+1|its line", "1+1|user: two"],
    ]


async def test_a_view_shown_in_a_commit_that_is_undone_is_never_given_again(memory, clock):
    """The next change gets the undone one's revision: the revision alone would not tell them apart."""
    logs, log = fresh(memory, clock), LogId(LOG)
    await logs.append(log, contract_in.new_messages([new_message("0", "first")]))
    before = await logs.fitted_view(log)

    undone = await one_commit(
        memory.store,
        logs.append(log, contract_in.new_messages([new_message("a", "undone")])),
        logs.fitted_view(log),
        memory.store.write(give_the_transaction_up),
    )
    after = logs.given_view(committed(memory))
    await logs.append(log, contract_in.new_messages([new_message("b", "second")]))
    later = logs.given_view(committed(memory))

    assert [type(one) for one in undone] == [ZeroDivisionError] * 3
    assert (after, later) == (None, None)
    assert (await logs.fitted_view(log)).text == "<chat>\n0+1|user: first\n1+1|user: second\n</chat>"
    assert before.text == "<chat>\n0+1|user: first\n</chat>"


async def test_a_line_that_is_refused_leaves_what_is_shown_as_it_was(memory):
    await memory.append("x" * 600, "y")
    before = await memory.view()

    with pytest.raises(RemoteError, match="halves has no line"):
        await memory.complete("0+2", "too early")

    assert await memory.view() == before


async def test_a_change_that_is_refused_before_it_moves_anything_leaves_the_views_in_memory(memory, clock):
    """A worker that sends its line twice must not make the writing thread load a whole view for each."""
    logs, log = fresh(memory, clock), LogId(LOG)
    await logs.append(log, contract_in.new_messages([new_message("0", "first")]))
    before = await logs.fitted_view(log)

    with pytest.raises(NodeBuilt):
        await logs.change(log, lambda chat: chat.complete(leaf(0), "its line again", "builder"))
    with pytest.raises(NodeUnknown):
        await logs.change(log, lambda chat: chat.complete(leaf(7), "of no message", "builder"))

    assert logs.given_view(committed(memory)) is before


async def test_a_change_that_is_refused_after_it_moved_something_leaves_no_view_in_memory(memory, clock):
    logs, log = fresh(memory, clock), LogId(LOG)
    await logs.append(log, contract_in.new_messages([new_message("0", "first")]))
    before = await logs.fitted_view(log)

    def move_and_fail(chat: ChatLog) -> None:
        chat.append(contract_in.new_messages([new_message("a", "undone")]))
        chat.complete(leaf(0), "its line again", "builder")

    with pytest.raises(NodeBuilt):
        await logs.change(log, move_and_fail)

    assert logs.given_view(committed(memory)) is None
    assert (await logs.fitted_view(log)).text == before.text
