"""What the user enters in a chat: a message and its answer, a command, a stop, the wish to leave."""

from datetime import UTC, datetime

import pytest
from onechat_cli.domain.transcript import Kind

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


@pytest.mark.parametrize("word", ["/quit", " /exit "])
async def test_quit_leaves(service, tmp_path, word):
    async with chatting(service.address, tmp_path) as (chat, view):
        chat.say(word)

    assert view.left
