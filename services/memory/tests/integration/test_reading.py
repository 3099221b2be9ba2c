"""Zoom, message times, ranges, figures, the list of logs."""

from datetime import timedelta

import pytest
from grpc import StatusCode
from onechat.memory.v1.log_pb2 import ViewLimits
from onechat.memory.v1.memory_service_pb2 import GetMessageTimeRequest, ListLogsRequest
from onechat_memory.domain.lines import PLACEHOLDER
from onechat_memory.domain.pages import PAGE_MAX
from onechat_runtime.errors import RemoteError

from tests.fakes.memory_server import LOG, MORNING, new_message, timestamp

LONG = "x" * 600


async def test_a_zoom_gives_the_two_lines_below_a_node(memory):
    await memory.append("a", "b\nb", LONG, "d")

    below = (await memory.zoom("0+4")).lines
    leaves = (await memory.zoom("0+2")).lines

    assert [(line.first_id, line.count, line.text, line.built) for line in below] == [
        (0, 2, "user: a user: b b", True),
        (2, 2, PLACEHOLDER, False),
    ]
    assert [(line.first_id, line.count, line.text) for line in leaves] == [
        (0, 1, "user: a"),
        (1, 1, "user: b b"),
    ]


async def test_a_zoom_of_one_message_gives_it_whole(memory):
    text = "y\n" * 15_000
    said = new_message("k", text, kind="MESSAGE_KIND_ECHO", images=["0123456789abcdef.png"])
    await memory.append("a", said)

    found = await memory.zoom("1+1")

    (message,) = found.messages
    assert (message.id, message.text, list(message.images)) == (1, text, ["0123456789abcdef.png"])
    assert not found.HasField("next_page_id")


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("0+8", "messages go from 0 to 4. Near it: 0+4."),
        ("3+2", "the first number is a multiple of the second. Near it: 2+2, 3+1."),
        ("0+3", "the second number is 1, 2, 4, 8 and so on. Near it: 0+2."),
        ("9+1", "messages go from 0 to 4. Near it: 4+1."),
    ],
)
async def test_a_line_that_is_not_there_names_what_is_near(memory, name, near):
    await memory.append(*"abcde")

    with pytest.raises(RemoteError) as refused:
        await memory.zoom(name)

    assert (refused.value.code, refused.value.reason) == (StatusCode.NOT_FOUND, "LINE_UNKNOWN")
    assert refused.value.message == f"There is no line {name}: {near}"


async def test_a_node_is_one_page(memory):
    await memory.append(*"abcd")

    assert len((await memory.zoom("0+4", page=0)).lines) == 2
    with pytest.raises(RemoteError) as refused:
        await memory.zoom("0+4", page=4)

    assert (refused.value.code, refused.value.reason) == (StatusCode.NOT_FOUND, "LINE_UNKNOWN")


async def test_a_whole_flat_log_comes_in_pages_on_which_each_message_is_whole(memory):
    await memory.create("flat", shape="LOG_SHAPE_FLAT")
    await memory.append("a", "b" * 30_000, "c" * 20_000, "d" * 11_000, "e" * 30_000, "f", log="flat")

    pages, page = [], None
    while True:
        found = await memory.zoom("0+0", log="flat", page=page)
        pages.append([message.id for message in found.messages])
        assert sum(len(message.text) for message in found.messages) <= PAGE_MAX
        if not found.HasField("next_page_id"):
            break
        page = found.next_page_id

    assert pages == [[0, 1], [2, 3], [4, 5]]


async def test_a_view_comes_in_pages_too(memory):
    await memory.append(*["v" * 480 + f" {number}" for number in range(100)])
    whole = (await memory.view()).text.splitlines()[1:-1]

    lines, page = [], None
    while True:
        found = await memory.zoom("0+0", page=page)
        lines += [f"{line.first_id}+{line.count}|{line.text}" for line in found.lines]
        if not found.HasField("next_page_id"):
            break
        page = found.next_page_id

    assert lines == whole
    assert page == 64


async def test_a_line_that_has_merged_since_begins_the_page_that_it_is_in(memory):
    """A page depends on nothing that is kept between two calls."""
    await memory.create("small", chat_view=ViewLimits(high_bytes=300, low_bytes=150))
    await memory.append(*["w" * 40] * 8, log="small")

    found = await memory.zoom("0+0", log="small", page=5)

    begins = found.lines[0]
    assert begins.count > 1
    assert begins.first_id < 5 < begins.first_id + begins.count


async def test_a_page_that_is_not_there_is_refused(memory):
    await memory.append("a")

    for log, page in ((LOG, 1), (LOG, -1)):
        with pytest.raises(RemoteError) as refused:
            await memory.zoom("0+0", log=log, page=page)
        assert refused.value.reason == "LINE_UNKNOWN"
    assert (await memory.zoom("0+0", page=0)).lines


async def test_a_flat_log_has_messages_and_no_lines(memory):
    await memory.create("flat", shape="LOG_SHAPE_FLAT")
    await memory.append("a", "b", log="flat")

    assert [message.text for message in (await memory.zoom("1+1", log="flat")).messages] == ["b"]
    with pytest.raises(RemoteError, match="no lines, only messages"):
        await memory.zoom("0+2", log="flat")


async def test_an_empty_log_has_an_empty_page(memory):
    found = await memory.zoom("0+0")

    assert (list(found.lines), list(found.messages)) == ([], [])


async def test_a_message_tells_the_instant_and_zone_that_were_stored(memory):
    at = MORNING - timedelta(days=400, microseconds=1)
    await memory.append("a", new_message("k", "b", time=at, zone="America/New_York"))

    found = await memory.call("GetMessageTime", GetMessageTimeRequest(log_id=LOG, id=1))
    plain = await memory.call("GetMessageTime", GetMessageTimeRequest(log_id=LOG, id=0))

    assert (found.time, found.zone) == (timestamp(at), "America/New_York")
    assert plain.zone == "UTC"


@pytest.mark.parametrize(
    ("message", "says"), [(1, "go from 0 to 0"), (-1, "go from 0 to 0"), (1 << 62, "go from")]
)
async def test_a_message_that_is_not_there_has_no_time(memory, message, says):
    await memory.append("a")

    with pytest.raises(RemoteError) as refused:
        await memory.call("GetMessageTime", GetMessageTimeRequest(log_id=LOG, id=message))

    assert (refused.value.code, refused.value.reason) == (StatusCode.NOT_FOUND, "MESSAGE_UNKNOWN")
    assert says in refused.value.message


async def test_a_range_is_streamed_in_order(memory):
    for _ in range(3):
        await memory.append(*["r" * 1_000] * 100)

    kept = await memory.messages(120, 290)

    assert [message.id for message in kept] == list(range(120, 290))
    assert [message.id for message in await memory.messages(299)] == [299]
    assert await memory.messages(300) == []
    assert await memory.messages(5, 5) == []


@pytest.mark.parametrize(("start", "end"), [(-1, None), (3, None), (1, 3), (2, 1), (0, -1)])
async def test_a_range_that_leaves_the_log_is_refused(memory, start, end):
    await memory.append("a", "b")

    with pytest.raises(RemoteError) as refused:
        await memory.messages(start, end)

    assert (refused.value.code, refused.value.reason) == (StatusCode.OUT_OF_RANGE, "RANGE_INVALID")


async def test_figures_say_how_far_a_log_is(memory):
    await memory.append("a", LONG, LONG, "d" * 300)

    stats = await memory.stats()

    assert (stats.log.log_id, stats.log.length) == (LOG, 4)
    assert (stats.built_nodes, stats.ready_nodes, stats.unbuilt_leaves) == (2, 2, 2)
    assert (stats.view_lines, stats.compaction_view_lines) == (4, 4)
    assert stats.view_bytes == stats.compaction_view_bytes == 7 + 306 + 2 * len(PLACEHOLDER)
    await memory.complete("2+1", "l" * 300)
    assert (await memory.stats()).ready_nodes == 2


async def test_logs_are_listed_by_id_page_by_page(memory):
    for name in ("b", "a", "c"):
        await memory.create(name, label=f"label of {name}")

    first = await memory.call("ListLogs", ListLogsRequest(page_size=3))
    rest = await memory.call("ListLogs", ListLogsRequest(page_size=3, page_token=first.next_page_token))

    assert [log.log_id for log in first.logs] == ["a", "b", "c"]
    assert [log.log_id for log in rest.logs] == [LOG]
    assert rest.next_page_token == ""
    assert first.logs[0].label == "label of a"


@pytest.mark.parametrize("request_", [ListLogsRequest(page_size=-1), ListLogsRequest(page_token="no token")])
async def test_a_page_of_logs_that_was_never_given_is_refused(memory, request_):
    with pytest.raises(RemoteError) as refused:
        await memory.call("ListLogs", request_)

    assert (refused.value.code, refused.value.reason) == (StatusCode.INVALID_ARGUMENT, "BAD_PAGE")
