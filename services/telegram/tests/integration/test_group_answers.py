"""What a group's agent says reaches its group: in answer to its message, in its topic, and never twice."""

import asyncio
from typing import Any

import pytest
from onechat.agent.v1 import event_pb2
from onechat.agent.v1.delivery_pb2 import ReplyTo
from onechat_telegram.domain.outgoing import PieceState

from tests.fakes.agent_servicer import AgentServicer
from tests.fakes.bot_api import GENERAL, OWNER, BotApi
from tests.fakes.telegram_bench import Bench, Running

BEN = 5550002


async def say(
    agent: AgentServicer, chat: int, text: str, *, message: int | None = None, topic: int | None = None
) -> None:
    """The agent of the group `chat` ends a turn with `text`, which answers `message`."""
    place = ReplyTo(chat=str(chat), message=str(message or ""), topic=str(topic or ""))
    reply = event_pb2.Reply(text=text, answered=[event_pb2.Answered(reply_to=place)])
    await agent.tell(reply=reply, agent_id="g1", agent="Home", audience=f"telegram:{chat}", turn="g")


def home(api: BotApi, **how: Any) -> int:
    """A group with the bot in it that the gateway was not told of: its admission is no matter here."""
    chat = api.groups.found("Home", [BEN], **how)
    api.updates.clear()
    return chat


def here(running: Running, chat: int) -> list[dict[str, Any]]:
    return [message for message in running.api.sent if message["chat"]["id"] == chat]


def states(running: Running) -> list[str]:
    rows: list[Any] = running.store.read(
        lambda db: db.execute("SELECT state FROM pieces ORDER BY number").fetchall()
    )
    return [str(row[0]) for row in rows]


async def test_an_answer_replies_to_its_message(running: Running) -> None:
    chat = home(running.api)
    asked = running.api.say("@onechat_test_bot hello", user=BEN, chat=chat)

    await say(running.agent, chat, "**hello** Ben", message=asked)
    await running.api.until(lambda: bool(here(running, chat)))

    [message] = here(running, chat)
    assert (message["text"], message["reply_to_message"]["message_id"]) == ("hello Ben", asked)
    assert running.api.texts(OWNER) == []


async def test_an_answer_under_what_the_library_cannot_read_is_said_once(running: Running) -> None:
    """Telegram's answer to the send quotes it; taken for no answer, the same would be said for ever."""
    chat = home(running.api)
    strange = {"type": "text_mention", "offset": 0, "length": 5, "user": {"id": 1}}
    asked = running.api.say("hello", user=BEN, chat=chat, entities=[strange])

    await say(running.agent, chat, "one", message=asked)
    await say(running.agent, chat, "two", message=asked)
    await running.api.until(lambda: "two" in running.api.texts(chat))

    assert running.api.texts(chat) == ["one", "two"]


async def test_each_piece_of_a_long_answer_is_in_its_topic(running: Running) -> None:
    chat = home(running.api, forum=True)
    topic = running.api.groups.open_topic(chat, "Garden")
    asked = running.api.say("hello", user=BEN, chat=chat, thread=topic)

    await say(running.agent, chat, "a" * 4_000 + "\n\n" + "b" * 4_000, message=asked, topic=topic)
    await running.api.until(lambda: len(here(running, chat)) == 2)

    assert [message["message_thread_id"] for message in here(running, chat)] == [topic, topic]


@pytest.mark.parametrize("forum", [True, False])
async def test_the_general_topic_is_never_named(running: Running, forum: bool) -> None:
    """Telegram knows no thread of that number, and takes none at all for it."""
    chat = home(running.api, forum=forum)

    await say(running.agent, chat, "hello", topic=GENERAL)
    await running.api.until(lambda: bool(here(running, chat)))

    assert running.api.calls["sendMessage"] == 1
    assert "message_thread_id" not in here(running, chat)[0]


async def test_an_answer_with_a_thread_that_is_no_topic_goes_without_it(running: Running) -> None:
    chat = home(running.api)
    asked = running.api.say("hello", user=BEN, chat=chat)

    await say(running.agent, chat, "hello", message=asked, topic=asked)
    await running.api.until(lambda: bool(here(running, chat)))

    assert here(running, chat)[0]["reply_to_message"]["message_id"] == asked


async def test_an_answer_into_a_closed_topic_is_said_where_it_can_be(running: Running) -> None:
    chat = home(running.api, forum=True)
    topic = running.api.groups.open_topic(chat, "Garden")
    asked = running.api.say("hello", user=BEN, chat=chat, thread=topic)
    running.api.groups.close_topic(chat, topic)

    await say(running.agent, chat, "hello", message=asked, topic=topic)
    await running.api.until(lambda: bool(here(running, chat)))

    assert "message_thread_id" not in here(running, chat)[0]


async def test_an_answer_to_a_message_that_is_gone_is_said_all_the_same(running: Running) -> None:
    chat = home(running.api)

    await say(running.agent, chat, "hello", message=4_444)
    await running.api.until(lambda: bool(here(running, chat)))

    assert running.api.texts(chat) == ["hello"]


async def test_a_member_is_answered_in_private(running: Running) -> None:
    running.api.say("hello", user=BEN)
    place = ReplyTo(chat=str(BEN), message="")
    reply = event_pb2.Reply(text="hello Ben", answered=[event_pb2.Answered(reply_to=place)])

    await running.agent.tell(reply=reply, agent_id="g1", agent="Home", audience="telegram:-1001", turn="g")
    await running.api.until(lambda: "hello Ben" in running.api.texts(BEN))

    assert running.api.texts(OWNER) == []


async def test_what_says_nowhere_where_it_belongs_is_shown_to_nobody(running: Running) -> None:
    """Such as a reply to what the group only overheard; never the owner's chat, which is another log's."""
    fields = {"agent_id": "g1", "agent": "Home", "audience": "telegram:-1001"}
    await running.agent.tell(reply=event_pb2.Reply(text="overheard"), **fields)
    await running.agent.tell(notice=event_pb2.Notice(text="a notice"), **fields)
    await running.agent.tell(image=event_pb2.ShownImage(image="0123456789abcdef.png"), **fields)
    failed = event_pb2.TurnChange(state="STATE_FAILED", reason="The model refused.")
    await running.agent.tell(turn_change=failed, **fields)
    await running.agent.reply("end")
    await running.api.until(lambda: bool(running.api.sent))

    assert running.api.texts() == ["end"]


async def test_a_send_without_an_answer_is_not_repeated_in_a_group(running: Running) -> None:
    chat = home(running.api)
    running.api.fail("sendMessage", how="drop", chat=chat)

    await say(running.agent, chat, "lost")
    await say(running.agent, chat, "next")
    await running.api.until(lambda: bool(here(running, chat)))

    assert running.api.texts(chat) == ["next"]
    assert states(running)[0] == PieceState.UNKNOWN


async def test_a_piece_found_sending_at_the_start_is_not_repeated_in_a_group(bench: Bench) -> None:
    chat = home(bench.api)
    sent = bench.api.fail("sendMessage", how="hang", chat=chat)
    async with bench.running():
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        await say(bench.agent, chat, "hello")
        await bench.api.until(lambda: len(bench.api.sent) == 1)
        bench.copy_as_if_killed()
        asyncio.get_running_loop().call_later(0.05, sent.released.set)

    async with bench.running() as running:
        await bench.agent.until(lambda: len(bench.agent.subscribed) == 2)
        await say(bench.agent, chat, "next")
        await bench.api.until(lambda: len(bench.api.sent) == 2)

        assert bench.api.texts(chat) == ["hello", "next"]
        assert states(running)[0] == PieceState.UNKNOWN


async def test_a_group_that_has_to_wait_holds_up_no_other_chat(bench: Bench) -> None:
    """Telegram takes twenty messages a minute for a group, and says nothing by that of any other."""
    bench.api.chats.add(OWNER)
    bench.api.chats.add(BEN)
    chat, other = home(bench.api), home(bench.api)
    bench.api.fail("sendMessage", code=429, retry_after=40, chat=chat)

    async with bench.running():
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        await say(bench.agent, chat, "one")
        await say(bench.agent, chat, "two")
        await bench.clock.until_sleeping()
        await say(bench.agent, other, "for the other group")
        await say(bench.agent, BEN, "for Ben")
        await bench.agent.reply("for the owner")
        await bench.api.until(lambda: len(bench.api.sent) == 3)
        waiting = bench.api.texts(chat)
        bench.clock.advance(40)
        await bench.api.until(lambda: len(bench.api.texts(chat)) == 2)

    assert (waiting, bench.api.texts(chat)) == ([], ["one", "two"])
    assert bench.api.texts(other) == ["for the other group"]
    assert (bench.api.texts(BEN), bench.api.texts(OWNER)) == (["for Ben"], ["for the owner"])


async def test_what_a_group_takes_says_nothing_of_the_owners_closed_chat(bench: Bench) -> None:
    bench.api.chats.add(OWNER)
    bench.api.blocked.add(OWNER)
    chat = home(bench.api)
    async with bench.running() as running:
        await bench.agent.until(lambda: bool(bench.agent.subscribed))
        await bench.agent.reply("for the owner")
        await bench.clock.until_sleeping()
        await say(bench.agent, chat, "one")
        await say(bench.agent, chat, "two")
        await bench.api.until(lambda: len(bench.api.texts(chat)) == 2)

        assert "owner_chat" in running.board.troubles()


async def test_a_group_that_became_a_supergroup_gets_what_waited_in_order(running: Running) -> None:
    chat = home(running.api, kind="group")
    asked = running.api.say("hello", user=BEN, chat=chat)
    held = running.api.fail("sendMessage", how="hold", chat=chat)
    await say(running.agent, chat, "one", message=asked)
    await running.api.until(lambda: running.api.calls["sendMessage"] == 1)
    await say(running.agent, chat, "two", message=asked)

    moved = running.api.groups.migrate(chat)
    held.released.set()
    await running.api.until(lambda: len(running.api.texts(moved)) == 2)

    assert running.api.texts(moved) == ["one", "two"]


async def test_what_a_group_is_found_to_have_moved_by_is_sent_to_it_at_once(running: Running) -> None:
    """Nothing else may happen for hours that would have it looked for."""
    chat = home(running.api, kind="group")
    asked = running.api.say("hello", user=BEN, chat=chat)
    moved = running.api.groups.migrate(chat)
    running.api.updates.clear()

    await say(running.agent, chat, "one", message=asked)
    await running.api.until(lambda: bool(running.api.texts(moved)))

    assert running.api.texts(moved) == ["one"]
    # The same number is another message there.
    assert running.store.read(lambda db: db.execute("SELECT answers FROM pieces").get) == 0


async def test_what_is_for_a_group_that_has_put_the_bot_out_is_set_aside(running: Running) -> None:
    chat = home(running.api)
    running.api.groups.remove_bot(chat)

    await say(running.agent, chat, "hello")
    await running.agent.reply("for the owner")
    await running.api.until(lambda: bool(running.api.sent))
    async with asyncio.timeout(30):
        while states(running)[0] != PieceState.ASIDE:
            await asyncio.sleep(0.005)

    assert running.api.texts() == ["for the owner"]
    assert "owner_chat" not in running.board.troubles()
