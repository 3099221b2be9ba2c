"""What happens is shown once in a chat, with what was missed and what awaits an answer."""

from datetime import UTC, datetime, timedelta

from onechat.agent.v1 import event_pb2
from onechat_cli.domain.transcript import Kind

from tests.fakes.recorded_chat import chatting, until_open


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
