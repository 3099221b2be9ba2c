"""A chat that is opened again shows the last exchanges as earlier, then what it missed, each once."""

import asyncio
import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import grpc
import pytest
from onechat.agent.v1 import event_pb2
from onechat_cli.chat.kept import Kept
from onechat_cli.chat.reopening import REACH, earlier_lines
from onechat_cli.domain.happening import Event, Heard, Noticed, Place
from onechat_cli.domain.transcript import Kind, Transcript
from onechat_cli.domain.typed import Typed
from onechat_runtime.errors import RemoteError

from tests.fakes.agent_servicer import agent_serving
from tests.fakes.recorded_chat import chatting, until_open

LONG_AGO = datetime.now(UTC) - timedelta(minutes=5)


@pytest.fixture
async def exchanged(agent):
    """Lets the user have exchanged questions and answers, somewhere, before the chat is opened."""

    async def exchange(*numbers):
        for number in numbers:
            said = event_pb2.UserMessage(key=f"elsewhere:{number}", text=f"question {number}")
            await agent.tell(user_message=said, time=LONG_AGO)
            await agent.begin_turn(f"turn {number}")
            activity = event_pb2.Activity(call="c", tool="shell", summary="shell: ls")
            await agent.tell(activity=activity, turn=f"turn {number}")
            activity.ended, activity.outcome = True, "failed"
            await agent.tell(activity=activity, turn=f"turn {number}")
            reply = event_pb2.Reply(text=f"answer {number}")
            await agent.tell(reply=reply, turn=f"turn {number}", time=LONG_AGO)
            await agent.over(f"turn {number}")

    return exchange


def left_at(data, agent, number=None):
    """A chat on the folder `data` was left when the event of `number`, else the newest, was shown."""
    Kept(data).keep_place(Place(stream=agent.stream, number=number or agent.events[-1].number))


def earlier(view):
    return [line.text for line in view.lines if line.earlier]


def new(view):
    return [line.text for line in view.lines if not line.earlier]


async def test_nothing_missed_shows_the_last_exchanges_and_nothing_else(agent, service, exchanged, tmp_path):
    """An empty screen lets a person doubt that their agent remembers."""
    await exchanged(1, 2, 3, 4)
    left_at(tmp_path, agent)

    async with chatting(service.address, tmp_path) as (_, view):
        await view.until(lambda: "answer 4" in view.texts())
        await agent.notice("now")
        await view.until(lambda: "now" in view.texts())
        await agent.until(lambda: agent.listening == 1)

    label, *shown = earlier(view)
    assert label == f"earlier, from {LONG_AGO.astimezone():%Y-%m-%d %H:%M}:"
    assert shown == [
        *("question 2", "answer 2", "question 3", "answer 3", "question 4", "answer 4"),
    ]
    assert new(view) == ["now"]


async def test_what_was_missed_comes_behind_it_as_ever(agent, service, exchanged, tmp_path):
    await exchanged(1)
    left_at(tmp_path, agent)
    await exchanged(2)

    async with chatting(service.address, tmp_path) as (_, view):
        await view.until(lambda: "answer 2" in view.texts())

    assert earlier(view)[1:] == ["question 1", "answer 1"]
    since, *missed = new(view)
    assert since.startswith("since you were last here, from")
    assert missed == ["question 2", "shell: ls → failed", "answer 2"]
    assert [line.earlier for line in view.lines] == sorted(
        (line.earlier for line in view.lines), reverse=True
    )


async def test_a_chat_that_is_opened_a_third_time_is_where_the_second_was(
    agent, service, exchanged, tmp_path
):
    """Showing what is known moves no place."""
    await exchanged(1)
    left_at(tmp_path, agent)
    before = Kept(tmp_path).place()
    async with chatting(service.address, tmp_path) as (_, view):
        await view.until(lambda: "answer 1" in view.texts())

    assert Kept(tmp_path).place() == before


async def test_a_reconnect_shows_nothing_of_it_again(agent, service, exchanged, tmp_path):
    await exchanged(1)
    left_at(tmp_path, agent)

    async with chatting(service.address, tmp_path) as (_, view):
        await view.until(lambda: "answer 1" in view.texts())
        await agent.cut()
        await view.until(lambda: "back" in view.texts())
        await agent.notice("now")
        await view.until(lambda: "now" in view.texts())

    assert view.texts().count("question 1") == view.texts().count("answer 1") == 1


async def test_an_answer_at_work_when_the_chat_was_left_is_at_work_when_it_is_opened(
    agent, service, tmp_path
):
    said = event_pb2.UserMessage(key="elsewhere", text="work")
    await agent.tell(user_message=said)
    await agent.begin_turn("turn")
    left_at(tmp_path, agent)

    async with chatting(service.address, tmp_path) as (chat, view):
        await view.until(lambda: "work" in view.texts())
        at_work = chat.transcript.busy
        await agent.reply("done", turn="turn")
        await agent.over("turn")
        await view.until(lambda: "done" in view.texts() and not chat.transcript.busy)

    assert at_work
    assert new(view)[-1] == "done"


async def test_the_first_opening_has_no_earlier_time(agent, service, exchanged, tmp_path):
    await exchanged(1)

    async with chatting(service.address, tmp_path) as (_, view):
        await view.until(lambda: "answer 1" in view.texts())

    assert earlier(view) == []


async def test_an_opening_of_an_empty_store_shows_nothing(agent, service, tmp_path):
    async with chatting(service.address, tmp_path) as (chat, view):
        await until_open(chat, view)
        await agent.notice("first")
        await view.until(lambda: "first" in view.texts())

    assert view.texts() == ["first"]


async def test_events_that_are_kept_no_more_are_left_out(agent, service, exchanged, tmp_path):
    """The place is kept, what lies far before it is not."""
    await exchanged(1, 2)
    left_at(tmp_path, agent)
    agent.oldest = agent.events[6].number
    agent.events = agent.events[6:]

    async with chatting(service.address, tmp_path) as (_, view):
        await view.until(lambda: "answer 2" in view.texts())

    assert earlier(view)[1:] == ["question 2", "answer 2"]
    assert new(view) == []


async def test_only_what_lies_within_reach_is_read(agent, service, exchanged, tmp_path):
    for number in range(REACH):
        await agent.notice(f"n{number}")
    await exchanged(1)
    left_at(tmp_path, agent)

    async with chatting(service.address, tmp_path) as (_, view):
        await view.until(lambda: "answer 1" in view.texts())

    assert agent.subscribed[-1].after == 6
    assert earlier(view)[-2:] == ["question 1", "answer 1"]


async def test_another_store_has_no_earlier_time(agent, service, exchanged, tmp_path):
    await exchanged(1)
    left_at(tmp_path, agent)
    agent.stream = "stream-2"

    async with chatting(service.address, tmp_path) as (_, view):
        await view.until(lambda: "answer 1" in view.texts())

    assert earlier(view) == []
    assert "another store" in view.texts(Kind.REMARK)[0]


async def test_a_store_that_was_set_back_is_another_one(agent, service, exchanged, tmp_path):
    """A copy of the data folder was put back: the place lies beyond its newest event."""
    await exchanged(1)
    left_at(tmp_path, agent, number=90)

    async with chatting(service.address, tmp_path) as (_, view):
        await view.until(lambda: "answer 1" in view.texts())

    assert earlier(view) == []
    assert "another store" in view.texts(Kind.REMARK)[0]


class Refusing:
    """An agent service that has no earlier time to tell, in the way that it is given."""

    def __init__(self, way):
        self._way = way

    async def hear(self, place, *, last=0):
        event = Event(
            number=1, agent_id="root", agent="One", turn="", time=LONG_AGO, body=Noticed(text="known")
        )
        yield Heard(place=place, item=event)
        match self._way:
            case "refuses":
                raise RemoteError(grpc.StatusCode.PERMISSION_DENIED, "no")
            case "has forgotten it":
                metadata = {"oldest": "9", "stream": "s"}
                raise RemoteError(
                    grpc.StatusCode.OUT_OF_RANGE, "gone", reason="EVENTS_GONE", metadata=metadata
                )
            case "says no more":
                await asyncio.Event().wait()
            case "ends":
                return


@pytest.mark.parametrize("way", ["refuses", "has forgotten it", "says no more", "ends"])
async def test_an_earlier_time_that_cannot_be_had_is_left_out_whole(way):
    """What is known must not hold up what is new, nor half of it make a turn look unfinished."""
    transcript = Transcript()

    lines = await earlier_lines(Refusing(way), Place(stream="s", number=3), transcript, within_s=0.05)

    assert lines == []
    assert transcript.shown == 0


async def test_without_a_terminal_nothing_earlier_is_printed(agent, variables, exchanged):
    """A program that reads replies must not read old ones."""
    await exchanged(1)
    left_at(Path(variables["ONECHAT_DATA"]), agent)
    agent.on_delivery = lambda delivery: agent.answer(delivery.key, "answer now")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "onechat_cli", "chat"),
        env={**os.environ, **variables},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )

    printed, aside = await process.communicate(b"hi\n")

    assert printed == b"answer now\n"
    assert aside == b""


async def test_messages_that_were_not_sent_come_behind_it(agent, exchanged, tmp_path):
    await exchanged(1)
    left_at(tmp_path, agent)
    Kept(tmp_path).keep(Typed(key="cli:left", text="unsent", time=datetime.now(UTC)))

    async with agent_serving(agent) as service, chatting(service.address, tmp_path) as (chat, view):
        await view.until(lambda: "unsent" in view.texts() and not chat.unsent)

    assert earlier(view)[1:] == ["question 1", "answer 1"]
    assert new(view) == ["1 of your messages had not been accepted; sending them now", "unsent"]
