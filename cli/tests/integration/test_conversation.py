"""A chat and its agent service: what is typed arrives once, what happens is shown, whoever goes away."""

from datetime import UTC, datetime, timedelta

import grpc
import pytest
from onechat.agent.v1 import event_pb2
from onechat_cli.chat.kept import Kept
from onechat_cli.domain.transcript import Kind
from onechat_cli.domain.typed import Typed

from tests.fakes.agent_servicer import agent_serving
from tests.fakes.recorded_chat import chatting, until_open


async def test_a_message_gets_its_streamed_answer_once(agent, service, tmp_path):
    agent.on_delivery = lambda delivery: agent.answer(delivery.key, f"You said {delivery.text}\nBye")
    async with chatting(service.address, tmp_path) as (chat, view):
        await until_open(chat, view)

        chat.say("hello\n")
        await view.until(lambda: "Bye" in view.texts() and not chat.transcript.busy)

        assert view.texts() == ["hello", "You said hello", "Bye"]
    (delivery,) = agent.deliveries.values()
    assert delivery.backed
    assert delivery.wakes_root
    assert delivery.to == "root"
    assert delivery.time.ToDatetime(tzinfo=UTC) <= datetime.now(UTC)


async def test_bytes_that_are_no_text_are_sent_as_signs_and_end_no_chat(agent, service, tmp_path):
    """Such a paste ended the chat, and as it was kept to be sent, every chat after it."""
    pasted = b"a \xff\xfe paste".decode("utf-8", "surrogateescape")
    Kept(tmp_path).keep(Typed(key="cli:old", text=pasted, time=datetime.now(UTC)))
    async with chatting(service.address, tmp_path) as (chat, view):
        await until_open(chat, view)

        chat.say(pasted)
        chat.say(f"/{pasted}")
        await view.until(lambda: len(agent.deliveries) == 2 and not chat.unsent)

        assert [one.text for one in agent.deliveries.values()] == ["a \ufffd\ufffd paste"] * 2
    assert not Kept(tmp_path).unsent()


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_message_whose_answer_is_lost_is_sent_again_under_its_key(agent, service, tmp_path, when):
    """Killed after it was taken and before it said so: it must not be taken twice."""
    agent.fail("Deliver", when=when, times=7, code=grpc.StatusCode.RESOURCE_EXHAUSTED)
    async with chatting(service.address, tmp_path) as (chat, view):
        await until_open(chat, view)

        chat.say("once")
        await view.until(lambda: chat.unsent == 0)

    assert agent.texts() == ["once"]
    assert agent.calls["Deliver"] == 8


async def test_what_is_typed_while_the_agent_is_away_is_sent_when_it_is_back(agent, tmp_path):
    async with agent_serving(agent) as loopback:
        address = loopback.address
    async with chatting(address, tmp_path) as (chat, view):
        await view.until(lambda: any("away" in text for text in view.texts(Kind.REMARK)))

        chat.say("one")
        chat.say("two")
        async with agent_serving(agent, address=address):
            await view.until(lambda: chat.unsent == 0 and chat.connected)

    assert agent.texts() == ["one", "two"]
    assert "back" in view.texts(Kind.REMARK)


async def test_what_was_typed_and_not_sent_is_sent_by_the_next_chat(agent, tmp_path):
    """Leave and come back without loss."""
    async with agent_serving(agent) as loopback:
        address = loopback.address
    async with chatting(address, tmp_path) as (chat, _):
        chat.say("kept")

    async with agent_serving(agent, address=address), chatting(address, tmp_path) as (chat, view):
        await view.until(lambda: chat.unsent == 0 and "kept" in view.texts())

    assert agent.texts() == ["kept"]
    assert "kept" in view.texts(Kind.USER)


async def test_a_cut_stream_goes_on_at_its_place(agent, service, tmp_path):
    async with chatting(service.address, tmp_path) as (chat, view):
        await until_open(chat, view)
        await agent.notice("one")
        await view.until(lambda: "one" in view.texts())

        await agent.cut()
        await agent.notice("two")
        await view.until(lambda: "two" in view.texts())

    assert view.texts(Kind.NOTICE) == ["one", "two"]
    assert agent.subscribed[-1].after == 1
    assert agent.subscribed[-1].stream == "stream-1"


async def test_the_next_chat_says_what_was_missed(agent, service, tmp_path):
    async with chatting(service.address, tmp_path) as (chat, view):
        await until_open(chat, view)
        await agent.notice("seen")
        await view.until(lambda: "seen" in view.texts())
    await agent.tell(notice=event_pb2.Notice(text="missed"), time=datetime.now(UTC) - timedelta(minutes=5))

    async with chatting(service.address, tmp_path) as (chat, view):
        await view.until(lambda: "missed" in view.texts())

    assert view.texts(Kind.NOTICE)[-1] == "missed"
    assert view.texts(Kind.HEADING)[-1].startswith("since you were last here")


async def test_the_first_chat_shows_the_last_few_exchanges(agent, service, tmp_path):
    for number in range(60):
        await agent.notice(f"n{number}")

    async with chatting(service.address, tmp_path) as (_chat, view):
        await view.until(lambda: "n59" in view.texts())

    assert view.texts(Kind.NOTICE) == [f"n{number}" for number in range(20, 60)]


async def test_events_that_are_kept_no_more_are_said_to_be_missing(agent, service, tmp_path):
    async with chatting(service.address, tmp_path) as (chat, view):
        await until_open(chat, view)
        await agent.notice("seen")
        await view.until(lambda: "seen" in view.texts())
    for number in range(5):
        await agent.notice(f"n{number}")
    agent.oldest = 4
    agent.events = [event for event in agent.events if event.number >= 4]

    async with chatting(service.address, tmp_path) as (chat, view):
        await view.until(lambda: "n4" in view.texts())

    assert view.texts(Kind.NOTICE) == ["n2", "n3", "n4"]
    assert "longer than events are kept" in view.texts(Kind.REMARK)[0]


async def test_a_restored_store_is_told_and_shown_from_its_own_events(agent, service, tmp_path):
    async with chatting(service.address, tmp_path) as (chat, view):
        await until_open(chat, view)
        for number in range(5):
            await agent.notice(f"old{number}")
        await view.until(lambda: "old4" in view.texts())
    agent.stream = "stream-2"
    agent.events = agent.events[:2]

    async with chatting(service.address, tmp_path) as (chat, view):
        await view.until(lambda: "old1" in view.texts())

    assert "another store" in view.texts(Kind.REMARK)[0]


async def test_a_command_is_answered_and_is_no_message(agent, service, tmp_path):
    async with chatting(service.address, tmp_path) as (chat, view):
        await until_open(chat, view)

        chat.say("/usage")
        await view.until(lambda: "did /usage" in view.texts(Kind.COMMAND))

    assert agent.deliveries == {}


async def test_what_begins_with_a_slash_and_is_no_command_is_a_message(agent, service, tmp_path):
    async with chatting(service.address, tmp_path) as (chat, view):
        await until_open(chat, view)

        chat.say("/etc/hosts is broken")
        await view.until(lambda: chat.unsent == 0 and agent.texts() != [])

    assert agent.texts() == ["/etc/hosts is broken"]
    assert view.texts(Kind.USER) == ["/etc/hosts is broken"]


async def test_stop_ends_what_began_before_it(agent, service, tmp_path):
    async def stop():
        await agent.over("turn", state="STATE_STOPPED")

    agent.on_delivery = lambda delivery: agent.begin_turn()
    agent.on_stop = stop
    async with chatting(service.address, tmp_path) as (chat, view):
        await until_open(chat, view)
        chat.say("work")
        await view.until(lambda: bool(chat.transcript.working))

        chat.stop()
        await view.until(lambda: "stopped" in view.texts(Kind.REMARK))

    (request,) = agent.stops
    assert request.agent == ""
    assert request.HasField("before_time")
    assert request.request_id


async def test_a_message_that_is_refused_is_told_and_not_tried_again(agent, service, tmp_path):
    agent.fail("Deliver", code=grpc.StatusCode.INVALID_ARGUMENT, reason="DELIVERY_INVALID")
    async with chatting(service.address, tmp_path) as (chat, view):
        await until_open(chat, view)

        chat.say("bad")
        await view.until(lambda: chat.unsent == 0)

    assert agent.calls["Deliver"] == 1
    assert view.texts(Kind.REMARK)[-1].startswith("not accepted")
    assert Kept(tmp_path).unsent() == []


async def test_a_message_that_is_not_taken_yet_says_why_once(agent, service, tmp_path):
    """The agent of a full disk is there and takes nothing: the chat would look as if it were at work."""
    agent.fail("Deliver", code=grpc.StatusCode.RESOURCE_EXHAUSTED, reason="STORE_FULL", times=14)
    async with chatting(service.address, tmp_path) as (chat, view):
        await until_open(chat, view)

        chat.say("hello")
        await view.until(lambda: chat.unsent == 0)

    assert view.texts(Kind.REMARK) == [
        "not taken yet: as the test asked What you typed is kept and sent by itself."
    ]
    assert agent.texts() == ["hello"]


@pytest.mark.parametrize("word", ["/quit", " /exit "])
async def test_quit_leaves(service, tmp_path, word):
    async with chatting(service.address, tmp_path) as (chat, view):
        chat.say(word)

    assert view.left


async def test_what_was_asked_long_ago_is_shown_at_each_opening_until_it_is_answered(
    agent, service, tmp_path
):
    """Its event may lie far before what an opening shows."""
    await agent.propose(1, "One asks to run shell:")
    for number in range(60):
        await agent.notice(f"n{number}")
    async with chatting(service.address, tmp_path) as (chat, view):
        await view.until(lambda: "n59" in view.texts() and chat.transcript.awaiting.next == 1)
        assert view.texts().count("proposal 1: One asks to run shell:") == 1

        await agent.propose(1, "One asks to run shell:", "DONE", "| ran")
        await view.until(lambda: "| ran" in view.texts())

    async with chatting(service.address, tmp_path) as (chat, view):
        await until_open(chat, view)
        assert chat.transcript.awaiting.next is None
