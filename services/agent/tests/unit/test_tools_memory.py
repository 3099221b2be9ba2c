"""zoom and date over a memory that is held in a dictionary."""

from datetime import UTC, datetime
from pathlib import Path

import grpc
import pytest
from onechat_agent.domain.agent import Role
from onechat_agent.domain.chat import AgentId, Kind, Line, Message, MessageId, Zoomed
from onechat_agent.domain.delivery import TurnId
from onechat_agent.tools.memory import DateTool, ZoomTool
from onechat_agent.tools.tool import CallContext
from onechat_runtime.errors import RemoteError

OWN = AgentId("a1")
CONTEXT = CallContext(
    agent=OWN,
    agent_name="One",
    memory_of=OWN,
    turn=TurnId("1"),
    call_key="t:1:1:c",
    backed=True,
    tainted=False,
    hops=0,
    workdir=Path("/"),
)
NOON = datetime(2026, 3, 5, 12, 0, 9, tzinfo=UTC)


def message(number=40, *, kind=Kind.USER, text="hello", source="user", images=(), part=1, parts=1):
    return Message(
        id=MessageId(number),
        key="k",
        kind=kind,
        text=text,
        time=NOON,
        zone="Europe/Rome",
        source=source,
        turn="",
        step=0,
        call="",
        images=images,
        part=part,
        parts=parts,
    )


class MemoryOf:
    """Gives what it was made of; refuses what it does not have as the service does."""

    def __init__(self, answers=None, *, fails=None, zone="Europe/Rome"):
        self.answers = answers or {}
        self.fails = fails
        self.zone = zone

    async def zoom(self, log, first, count, page):
        if self.fails:
            raise self.fails
        found = self.answers.get((log, first, count, page))
        if found is None:
            raise RemoteError(
                grpc.StatusCode.NOT_FOUND, f"There is no line {first}+{count}.", reason="LINE_UNKNOWN"
            )
        return found

    async def message_time(self, log, message):
        if self.fails:
            raise self.fails
        return NOON, self.zone


def whole(*messages, next_page=None):
    return Zoomed(lines=(), messages=messages, next_page=next_page)


async def zoom(memory, **given):
    arguments = {"id": 40, "n": 1, "name": None, "page": None, **given}
    return await ZoomTool(memory, Role.GROUP).run(CONTEXT, arguments)


async def test_a_node_shows_its_two_lines_and_the_log_gets_a_pointer():
    lines = (
        Line(first=MessageId(40), count=4, text="first half", built=True),
        Line(first=MessageId(44), count=4, text="second half", built=True),
    )
    memory = MemoryOf({(OWN, 40, 8, None): Zoomed(lines=lines, messages=(), next_page=None)})

    result = await zoom(memory, n=8)

    assert result.text == "40+4|first half\n44+4|second half"
    assert result.logged == "zoomed 40+8"
    assert not result.taints


async def test_a_message_is_shown_whole_with_its_images():
    """The model sees its pictures again by `zoom(id, 1)`."""
    shown = message(text="look\n[image a.png]", images=("a.png", "b.jpg"))
    memory = MemoryOf({(OWN, 40, 1, None): whole(shown)})

    result = await zoom(memory)

    assert result.text == "40+1|user: look\n[image a.png]\n[image b.jpg]"
    assert result.images == ("a.png", "b.jpg")


async def test_a_piece_of_a_long_text_names_the_others():
    memory = MemoryOf({(OWN, 40, 1, None): whole(message(part=2, parts=3))})

    result = await zoom(memory)

    assert result.text.endswith("(part 2 of 3 of one text: messages 39 to 41)")


async def test_a_page_says_where_the_next_begins():
    memory = MemoryOf({(OWN, 40, 4, 42): whole(message(42), next_page=43)})

    result = await zoom(memory, n=4, page=42)

    assert result.text.endswith("(more follows: zoom again with page 43)")
    assert result.logged == "zoomed 40+4, page 42"


@pytest.mark.parametrize(
    ("shown", "taints"),
    [
        (message(source="user"), False),
        (message(source="", kind=Kind.REPLY), False),
        (message(source=OWN, kind=Kind.WORK), False),
        (message(source="whatsapp:123", kind=Kind.WORK), True),
        (message(source="telegram:5"), True),
        (message(source="schedule:s1", kind=Kind.WORK), True),
        (message(source="another-agent", kind=Kind.WORK), True),
        (message(source="", kind=Kind.ECHO), True),
    ],
)
async def test_a_message_from_outside_taints(shown, taints):
    """An echo may hold what shell or read once brought in, though the agent itself logged it."""
    result = await zoom(MemoryOf({(OWN, 40, 1, None): whole(shown)}))

    assert result.taints == taints


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"name": "House"}, "nobody called House to name"),
        ({"id": None}, "needs id and n"),
        ({"n": None}, "needs id and n"),
        ({"id": -1}, "ids count from 0"),
        ({"n": 0}, "n from 1"),
        ({"id": 10**30}, "no line"),
        ({"page": -3}, "no page -3"),
        ({"id": 41, "n": 8}, "There is no line 41+8."),
    ],
)
async def test_what_cannot_be_zoomed_is_said(arguments, said):
    result = await zoom(MemoryOf(), **arguments)

    assert said in result.text
    assert result.failed
    assert result.logged is None


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            RemoteError(grpc.StatusCode.UNAVAILABLE, "connection refused 127.0.0.1"),
            "could not be reached: nothing",
        ),
        (RemoteError(grpc.StatusCode.DEADLINE_EXCEEDED), "could not be reached: nothing was done"),
        (RemoteError(grpc.StatusCode.INTERNAL, "boom"), "failed at this: nothing was done"),
    ],
)
async def test_a_memory_that_is_away_is_named(error, said):
    zoomed = await zoom(MemoryOf(fails=error))
    dated = await DateTool(MemoryOf(fails=error), "Europe/Rome").run(CONTEXT, {"id": 5})

    assert zoomed.text == dated.text
    assert zoomed.text.startswith("The memory service ")
    assert said in zoomed.text


async def test_a_date_is_given_in_its_own_zone_and_the_users():
    same = await DateTool(MemoryOf(), "Europe/Rome").run(CONTEXT, {"id": 5})
    other = await DateTool(MemoryOf(), "Asia/Kathmandu").run(CONTEXT, {"id": 5})

    assert same.text == "5: Thursday, 2026-03-05 13:00:09 Europe/Rome (UTC+01:00)"
    assert other.text == f"{same.text}; for the user Thursday, 2026-03-05 17:45:09 Asia/Kathmandu (UTC+05:45)"
    assert same.logged == "dated 5"


@pytest.mark.parametrize("zone", ["", "Mars/Olympus", "../../etc/passwd"])
async def test_a_zone_that_is_not_known_is_shown_as_utc(zone):
    result = await DateTool(MemoryOf(zone=zone), "UTC").run(CONTEXT, {"id": 5})

    assert "12:00:09 UTC (UTC+00:00)" in result.text


async def test_an_id_that_no_message_can_have_is_not_asked_for():
    result = await DateTool(MemoryOf(), "UTC").run(CONTEXT, {"id": -1})

    assert result.text == "There is no message -1: ids count from 0."
