"""SwapLog: a staged log takes a live one's place at one moment, for everybody who uses its id."""

import pytest
from grpc import StatusCode
from onechat.memory.v1.log_pb2 import LOG_STATE_KEPT, LOG_STATE_LIVE, ViewLimits
from onechat_runtime.errors import RemoteError

from tests.fakes.memory_server import LOG, new_message

LONG = "x" * 600
LINE = "l" * 300


def names(leased):
    return [f"{piece.first_id}+{piece.count}" for piece in leased.pieces]


def texts(messages):
    return [message.text for message in messages]


@pytest.fixture
async def staged(memory):
    """A live log of two messages, and a staged one of three beside it."""
    await memory.append("old 0", "old 1")
    await memory.create("staged", state="LOG_STATE_STAGED", label="import")
    await memory.append("new 0", "new 1", "new 2", log="staged")
    return memory


async def test_a_staged_log_takes_the_live_ones_id_its_label_and_the_next_generation(memory):
    await memory.create("house", label="House")
    await memory.create("staged", state="LOG_STATE_STAGED", label="import")
    await memory.append("new", log="staged")

    log = await memory.swap(log="house")

    assert (log.log_id, log.label, log.state, log.generation, log.length) == (
        "house",
        "House",
        LOG_STATE_LIVE,
        2,
        1,
    )
    logs = await memory.logs()
    assert logs["house"] == log
    assert (logs["kept"].label, logs["kept"].state, logs["kept"].generation) == ("House", LOG_STATE_KEPT, 1)
    assert "staged" not in logs


async def test_every_answer_after_a_swap_is_the_new_logs(staged):
    before = await staged.view()

    await staged.swap()

    view = await staged.view()
    assert view.text == "<chat>\n0+1|user: new 0\n1+1|user: new 1\n2+1|user: new 2\n</chat>"
    assert (before.generation, view.generation) == (1, 2)
    assert texts(await staged.messages()) == ["new 0", "new 1", "new 2"]
    appended = await staged.append(LONG)
    assert (appended.appended[0].first_id, appended.length, appended.generation) == (3, 4, 2)
    assert (await staged.lease()).generation == 2
    assert (await staged.stats()).log.generation == 2


async def test_a_log_that_was_there_is_asked_for_again_as_before(staged):
    """An agent makes its log at each start, whatever was swapped in meanwhile."""
    await staged.swap()

    log = await staged.create()

    assert (log.generation, log.length) == (2, 3)


async def test_a_kept_log_is_read_as_it_stood(staged):
    await staged.append(LONG)
    before, stats = await staged.view(), await staged.stats()
    await staged.swap()

    view = await staged.view("kept", wait_s=300)

    assert view == before
    assert not view.whole
    assert texts(await staged.messages(log="kept")) == ["old 0", "old 1", LONG]
    assert [line.text for line in (await staged.zoom("0+2", log="kept")).lines] == [
        "user: old 0",
        "user: old 1",
    ]
    assert (await staged.zoom("1+1", log="kept")).messages[0].text == "old 1"
    kept = await staged.stats("kept")
    assert (kept.built_nodes, kept.view_bytes) == (stats.built_nodes, stats.view_bytes)


async def test_each_log_is_searched_under_the_id_that_it_has(staged):
    assert await staged.found("old") == [1, 0]

    await staged.swap()

    assert await staged.found("old") == []
    assert await staged.found("new") == [2, 1, 0]
    assert await staged.found("old", log="kept") == [1, 0]


async def test_an_owed_batch_of_a_kept_log_is_not_made(memory):
    """It is shown as it stood, also where merges became possible after its last append."""
    limits = ViewLimits(high_bytes=1_200, low_bytes=600)
    await memory.create("small", chat_view=limits, compaction_view=ViewLimits(high_bytes=900, low_bytes=300))
    await memory.append(*["w" * 300] * 8, log="small")
    leased = await memory.lease()
    for name in names(leased):
        await memory.complete(name, LINE, log="small")
    before = await memory.stats("small")
    await memory.create("staged", state="LOG_STATE_STAGED")

    await memory.swap(log="small")

    assert (await memory.view("kept")).lines == before.view_lines == 8


async def test_a_kept_log_takes_nothing(staged):
    await staged.append(LONG)
    await staged.swap()
    calls = [
        staged.append("more", log="kept"),
        staged.append(new_message("n", "more"), log="kept"),
        staged.complete("2+1", "line", log="kept"),
        staged.rebuild(log="kept", demo=True),
    ]

    for call in calls:
        with pytest.raises(RemoteError) as refused:
            await call
        assert (refused.value.code, refused.value.reason) == (StatusCode.FAILED_PRECONDITION, "LOG_NOT_LIVE")
        assert "SwapLog" in refused.value.message

    assert names(await staged.lease()) == []
    assert (await staged.stats("kept")).log.length == 3


async def test_a_kept_log_comes_back_with_a_generation_of_its_own(staged):
    await staged.swap()
    await staged.append("since")

    log = await staged.swap("kept", "undone")

    assert (log.generation, log.length) == (3, 2)
    await staged.append("old 2")
    assert texts(await staged.messages()) == ["old 0", "old 1", "old 2"]
    assert (await staged.view()).text.endswith("2+1|user: old 2\n</chat>")
    assert texts(await staged.messages(log="undone"))[-1] == "since"


async def test_a_swap_is_there_after_a_restart(open_memory):
    async with open_memory() as memory:
        await memory.create()
        await memory.append("old")
        await memory.create("staged", state="LOG_STATE_STAGED")
        await memory.append("new", log="staged")
        swapped = await memory.swap(request_id="swap")

    async with open_memory() as memory:
        assert await memory.swap(request_id="swap") == swapped
        assert (await memory.view()).text == "<chat>\n0+1|user: new\n</chat>"
        await memory.append("newer")
        assert (await memory.view("kept")).text == "<chat>\n0+1|user: old\n</chat>"


async def test_a_swap_that_comes_twice_is_made_once(staged):
    first = await staged.swap(request_id="swap 1")
    await staged.append("since")

    again = await staged.swap(request_id="swap 1")

    assert again == first
    assert (await staged.stats()).log.generation == 2
    with pytest.raises(RemoteError) as refused:
        await staged.swap("kept", "other", request_id="swap 1")
    assert (refused.value.code, refused.value.reason) == (StatusCode.ALREADY_EXISTS, "KEY_REUSED")


async def test_a_swap_that_was_refused_may_be_asked_for_again(staged):
    with pytest.raises(RemoteError, match="LOG_EXISTS"):
        await staged.swap(kept=LOG, request_id="swap")
    with pytest.raises(RemoteError, match="LOG_UNKNOWN"):
        await staged.swap("later", request_id="swap")
    await staged.create("later", state="LOG_STATE_STAGED")

    assert (await staged.swap("later", request_id="swap")).length == 0


@pytest.mark.parametrize(
    ("fields", "code", "reason"),
    [
        ({"staged": "other"}, StatusCode.FAILED_PRECONDITION, "LOG_NOT_STAGED"),
        ({"staged": LOG}, StatusCode.FAILED_PRECONDITION, "LOG_NOT_STAGED"),
        ({"staged": "flat"}, StatusCode.FAILED_PRECONDITION, "LOG_NOT_STAGED"),
        ({"log": "flat"}, StatusCode.FAILED_PRECONDITION, "LOG_NOT_LIVE"),
        ({"log": "staged", "staged": "staged"}, StatusCode.FAILED_PRECONDITION, "LOG_NOT_LIVE"),
        ({"kept": "other"}, StatusCode.ALREADY_EXISTS, "LOG_EXISTS"),
        ({"kept": "staged"}, StatusCode.ALREADY_EXISTS, "LOG_EXISTS"),
        ({"kept": ""}, StatusCode.INVALID_ARGUMENT, "LOG_INVALID"),
        ({"kept": "a/b"}, StatusCode.INVALID_ARGUMENT, "LOG_INVALID"),
        ({"staged": "none"}, StatusCode.NOT_FOUND, "LOG_UNKNOWN"),
        ({"log": "none"}, StatusCode.NOT_FOUND, "LOG_UNKNOWN"),
        ({"request_id": "r" * 201}, StatusCode.INVALID_ARGUMENT, "BAD_REQUEST_ID"),
        ({"request_id": "è"}, StatusCode.INVALID_ARGUMENT, "BAD_REQUEST_ID"),
    ],
)
async def test_a_swap_that_cannot_be_is_refused_and_changes_nothing(staged, fields, code, reason):
    await staged.create("other")
    await staged.create("flat", shape="LOG_SHAPE_FLAT", state="LOG_STATE_STAGED")
    before = await staged.logs()

    with pytest.raises(RemoteError) as refused:
        await staged.swap(**fields)

    assert (refused.value.code, refused.value.reason) == (code, reason)
    assert await staged.logs() == before
