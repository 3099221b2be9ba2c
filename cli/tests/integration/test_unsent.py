"""What is typed in a chat arrives once, whoever goes away before it was accepted."""

from datetime import UTC, datetime

import grpc
import pytest
from onechat_cli.chat.kept import Kept
from onechat_cli.domain.transcript import Kind
from onechat_cli.domain.typed import Typed

from tests.fakes.agent_servicer import agent_serving
from tests.fakes.recorded_chat import chatting, until_open


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
