"""Appends that wait for the writing thread together are one change, and each is as if it had come alone."""

import asyncio
from dataclasses import replace

import pytest
from onechat_memory.adapters import contract_in
from onechat_memory.bells import Bells
from onechat_memory.chat_logs import ChatLogs
from onechat_memory.domain.leases import LogId
from onechat_memory.domain.messages import FIRST_GENERATION
from onechat_memory.errors import KeyReused, LogUnknown
from onechat_memory.joined_appends import JOINED_MAX

from tests.fakes.memory_rows import lines_of, nodes_of
from tests.fakes.memory_server import new_message

TEXTS = ["a", "b" * 300, "é" * 250, "c" * 600, "d" * 200, "e" * 30_500, "f\ng", "h" * 90, "i" * 500, "j"]
TOGETHER, ALONE = LogId("together"), LogId("alone")


@pytest.fixture
async def logs(memory, clock) -> ChatLogs:
    """All logs of a store that has two with small views."""
    for log in (TOGETHER, ALONE):
        limits = {"chat_view": {"high_bytes": 900, "low_bytes": 500}}
        await memory.create(log, **limits, compaction_view={"high_bytes": 500, "low_bytes": 300})
    return ChatLogs(memory.store, clock, Bells(clock))


def messages(*said):
    """New messages, each a key and a text."""
    return contract_in.new_messages([new_message(key, text) for key, text in said])


async def at_once(store, *appending):
    """What each append became, all of them taken up by the writing thread in one go."""
    hold = await store.hold()
    tasks = [asyncio.ensure_future(one) for one in appending]
    await asyncio.sleep(0)  # each stands in the queue now
    hold.end()
    return await asyncio.gather(*tasks, return_exceptions=True)


def revision(store, log):
    return store.read(lambda db: db.execute("SELECT revision FROM logs WHERE id = ?", (log,)).get)


def rows_of(store, log):
    """Every row of a log, without what names the log and without times."""

    def job(db):
        number = db.execute("SELECT number FROM logs WHERE id = ?", (log,)).get
        tables = {
            "messages": "id, kind, text, key, body_hash, source, images, part, parts",
            "unbuilt_leaves": "message",
            "ready_merges": "last, level",
        }
        counters = (
            "length, chat_owed, compaction_owed, batches, built_nodes, built_leaves, degraded_nodes,"
            " chat_bytes, compaction_bytes, chat_lines, compaction_lines"
        )
        found = {
            table: db.execute(
                f"SELECT {columns} FROM {table} WHERE log = ? ORDER BY {columns}", (number,)
            ).get
            for table, columns in tables.items()
        }
        found["nodes"] = [node[:5] for node in nodes_of(db, number)]
        found |= {view: lines_of(db, number, view) for view in ("chat", "compaction")}
        return found, db.execute(f"SELECT {counters} FROM logs WHERE number = ?", (number,)).get

    return store.read(job)


async def test_joined_appends_leave_the_rows_of_single_ones_in_one_change(memory, logs):
    calls = [messages(*((f"{call}:{place}", text) for place, text in enumerate(TEXTS))) for call in range(6)]

    before = revision(memory.store, TOGETHER)
    together = await at_once(memory.store, *(logs.append(TOGETHER, call) for call in calls))
    alone = [await logs.append(ALONE, [message]) for call in calls for message in call]

    assert revision(memory.store, TOGETHER) == before + 1
    assert rows_of(memory.store, TOGETHER) == rows_of(memory.store, ALONE)
    assert [one for call in together for one in call.appended] == [one.appended[0] for one in alone]
    assert [call.length for call in together] == [alone[10 * call + 9].length for call in range(6)]
    assert {call.generation for call in together} == {FIRST_GENERATION}


async def test_a_key_with_another_body_refuses_its_own_append_only(memory, logs):
    refused = messages(("new", "never written"), ("a", "two"))

    first, second, third = await at_once(
        memory.store,
        logs.append(TOGETHER, messages(("a", "one"))),
        logs.append(TOGETHER, refused),
        logs.append(TOGETHER, messages(("new", "another body"), ("b", "three"))),
    )

    assert isinstance(second, KeyReused)
    assert [one.first for one in (*first.appended, *third.appended)] == [0, 1, 2]
    assert third.length == 3
    kept = await memory.messages(log=TOGETHER)
    assert [message.text for message in kept] == ["one", "another body", "three"]


async def test_the_same_message_from_two_callers_at_once_is_logged_once(memory, logs):
    """A caller that gave up waiting and asks again can meet its own first call in the queue."""
    first, second = await at_once(
        memory.store,
        logs.append(TOGETHER, messages(("a", "x" * 30_500))),
        logs.append(TOGETHER, messages(("a", "x" * 30_500), ("b", "y"))),
    )

    assert [(one.first, one.count, one.known) for one in first.appended] == [(0, 2, False)]
    assert [(one.first, one.count, one.known) for one in second.appended] == [(0, 2, True), (2, 1, False)]


async def test_one_that_cannot_be_written_does_not_take_the_others_along(memory, logs):
    (broken,) = messages(("b", "no column holds its step"))

    first, second, third = await at_once(
        memory.store,
        logs.append(TOGETHER, messages(("a", "one"))),
        logs.append(TOGETHER, [replace(broken, step=1 << 80)]),
        logs.append(TOGETHER, messages(("c", "three"))),
    )

    assert isinstance(second, OverflowError)
    assert [first.appended[0].first, third.appended[0].first] == [0, 1]
    assert (await logs.fitted_view(TOGETHER)).text == "<chat>\n0+1|user: one\n1+1|user: three\n</chat>"


async def test_a_caller_that_goes_away_has_its_message_logged_and_disturbs_nobody(memory, logs):
    hold = await memory.store.hold()
    leaving = asyncio.ensure_future(logs.append(TOGETHER, messages(("a", "one"))))
    staying = asyncio.ensure_future(logs.append(TOGETHER, messages(("b", "two"))))
    await asyncio.sleep(0)

    leaving.cancel()
    hold.end()

    assert (await staying).appended[0].first == 1
    assert [message.text for message in await memory.messages(log=TOGETHER)] == ["one", "two"]


async def test_joined_appends_to_a_log_that_is_not_there_are_each_told(memory, logs):
    answers = await at_once(
        memory.store, *(logs.append(LogId("nobody"), messages((key, key))) for key in "abc")
    )

    assert [type(answer) for answer in answers] == [LogUnknown] * 3


async def test_a_change_takes_only_so_many_messages(memory, logs):
    """So that a log with much to take does not keep the others' changes from coming between."""
    size = JOINED_MAX // 4
    calls = [messages(*((f"{call}:{place}", "x") for place in range(size))) for call in range(6)]

    before = revision(memory.store, TOGETHER)
    answers = await at_once(memory.store, *(logs.append(TOGETHER, call) for call in calls))

    assert revision(memory.store, TOGETHER) == before + 2
    assert [answer.appended[0].first for answer in answers] == [size * call for call in range(6)]
