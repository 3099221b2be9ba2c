"""Groups on Telegram: who is served, what is addressed, and where answers go, over the real adapter.

The rules themselves: test_group_chats.py and its like; what each adapter keeps: tests/contract.
"""

from typing import Any

import pytest
from onechat_telegram.domain.admissions import GONE, YES, answered
from onechat_telegram.domain.proposals import NO
from onechat_telegram.domain.wording import NOT_FOR_YOU
from onechat_telegram.groups.domain.ids import ChatId, MessageId, MessageKey
from onechat_telegram.groups.domain.messages import Place
from onechat_telegram.groups.domain.settings import GroupSettings
from onechat_telegram.groups.domain.wording import REFUSED

from tests.fakes.bot_api import OWNER
from tests.fakes.pictures import PNG
from tests.fakes.telegram_house import House

BEN, EVE = 5550002, 5550003
BOT = "@onechat_test_bot"
ONE = {"id": 8100200300, "is_bot": True, "first_name": "One"}


async def test_a_group_is_served_once_the_owner_has_said_yes(house: House) -> None:
    chat = house.api.groups.found("Garden", [BEN])
    question = await house.asked_of("Garden")
    house.api.say(f"{BOT} hello?", user=BEN, chat=chat)
    await house.taken()
    before = (house.state_of(chat), dict(house.agent.groups), house.api.texts(chat))

    house.press("Garden", YES)
    await house.until(lambda: house.state_of(chat) == "admitted")
    await house.taken()

    assert before == ("asked", {}, [])
    assert list(house.agent.groups) == [f"telegram:{chat}"]
    shown = house.api.messages[OWNER, question["message_id"]]
    assert (shown["text"], "reply_markup" in shown) == (answered("Garden", served=True), False)
    assert house.agent.deliveries == {}


async def test_a_no_makes_the_bot_leave(house: House) -> None:
    chat = house.api.groups.found("Garden", [BEN])
    question = await house.asked_of("Garden")

    house.press("Garden", NO)
    await house.until(lambda: house.state_of(chat) == "left")
    await house.taken()

    assert not house.api.directory.groups[chat].member(house.api.bot_id).inside
    shown = house.api.messages[OWNER, question["message_id"]]
    assert (shown["text"], house.agent.groups) == (answered("Garden", served=False), {})


async def test_a_copy_of_the_question_that_may_have_been_sent_has_no_buttons_once_one_was_pressed(
    house: House,
) -> None:
    house.api.fail("sendMessage", how="lose")
    chat = house.api.groups.found("Garden", [BEN])
    await house.api.until(lambda: len(house.api.sent) == 2)
    first, second = (one["message_id"] for one in house.api.sent)
    await house.taken()

    house.api.callbacks.press(first, YES)
    await house.until(lambda: house.state_of(chat) == "admitted")

    await house.api.until(lambda: not any("reply_markup" in one for one in house.api.sent))
    assert house.api.messages[OWNER, second]["text"] == answered("Garden", served=True)


async def test_a_press_for_a_group_that_the_bot_was_put_out_of_says_so(house: House) -> None:
    chat = house.api.groups.found("Garden", [BEN])
    question = await house.asked_of("Garden")
    house.api.groups.remove_bot(chat)
    await house.until(lambda: house.state_of(chat) == "left")

    house.press("Garden", YES)
    await house.until(lambda: house.api.messages[OWNER, question["message_id"]]["text"] == GONE)

    assert house.agent.groups == {}


async def test_a_group_that_somebody_else_adds_the_bot_to_is_left_without_a_word_there(
    house: House,
) -> None:
    chat = house.api.groups.found("Casino", [BEN], creator=EVE)

    await house.until(lambda: house.state_of(chat) == "left")
    await house.taken()

    assert house.api.texts(chat) == []
    assert not house.api.directory.groups[chat].member(house.api.bot_id).inside
    assert ['"Casino"' in text and "Ada" in text for text in house.api.texts(OWNER)] == [True]


async def test_a_group_that_nobody_has_told_of_is_left_at_its_first_word(house: House) -> None:
    chat = house.api.groups.found("Old", [BEN])
    house.api.updates.clear()
    house.api.say("anybody here?", user=BEN, chat=chat)

    await house.until(lambda: house.state_of(chat) == "left")
    await house.taken()

    assert (house.api.texts(chat), house.agent.deliveries) == ([], {})
    assert not house.api.directory.groups[chat].member(house.api.bot_id).inside


ADDRESSED: dict[str, dict[str, Any]] = {
    "a mention": {"text": f"hello {BOT}"},
    "a mention after an emoji": {"text": f"👋 {BOT} hi"},
    "a mention in other letters": {"text": "hello @OneChat_Test_Bot"},
    "a mention by number": {
        "text": "👋 One, hi",
        "entities": [{"type": "text_mention", "offset": 3, "length": 3, "user": ONE}],
    },
    "a command": {"text": "/weather"},
    "a command for it": {"text": f"/weather{BOT} today"},
}
NOT_ADDRESSED: dict[str, dict[str, Any]] = {
    "plain words": {"text": "hello all"},
    "another name": {"text": f"hello {BOT}t"},
    "a mention in code": {
        "text": f"say {BOT}",
        "entities": [{"type": "code", "offset": 4, "length": len(BOT)}],
    },
    "another bot's command": {"text": "/weather@other_bot"},
}


@pytest.mark.parametrize("case", [*ADDRESSED, *NOT_ADDRESSED])
async def test_what_is_addressed_gets_a_turn_and_the_rest_is_learned_without_one(
    house: House, case: str
) -> None:
    house.agent.answer_all = "Yes?"
    chat = await house.served("Garden", [BEN])
    house.api.say(user=BEN, chat=chat, **(ADDRESSED | NOT_ADDRESSED)[case])

    async with house.bench.time_flies():  # a batch closes in time
        [delivery] = await house.until_delivered("Garden", 1)
        await house.until_said(chat, 1 if case in ADDRESSED else 0)
        await house.taken()

    assert delivery.wakes_root is (case in ADDRESSED)
    assert house.api.texts(chat) == (["Yes?"] if case in ADDRESSED else [])
    assert delivery.source == f"telegram:{chat}"


async def test_a_caption_and_a_reply_address_it_too_and_answers_stand_under_what_they_answer(
    house: House,
) -> None:
    house.agent.answer_all = "In **May**."
    chat = await house.served("Garden", [BEN])
    asked = [house.api.people.show_photo(PNG, f"what is it, {BOT}", user=BEN, chat=chat)]
    [first] = await house.until_said(chat)
    asked.append(house.api.say("why then?", user=BEN, chat=chat, reply_to=first["message_id"]))

    said = await house.until_said(chat, 2)
    picture, reply = await house.until_delivered("Garden", 2)

    assert [each["reply_to_message"]["message_id"] for each in said] == asked
    assert [each["text"] for each in said] == ["In May.", "In May."]
    assert [house.agent.images[name] for name in picture.images] == [house.api.files.data_of(
        house.api.messages[chat, asked[0]]["photo"][-1])]  # fmt: skip
    assert "in reply to you:\n  > In May." in reply.text


async def test_an_answer_stays_in_its_topic_and_the_agent_reads_its_name(house: House) -> None:
    house.agent.answer_all = "Here."
    chat = await house.served("Garden", [BEN], forum=True)
    roses, trees = (house.api.groups.open_topic(chat, name) for name in ("Roses", "Trees"))

    for thread, text in ((roses, "who?"), (trees, "where?"), (None, "when?")):
        house.api.say(f"{BOT} {text}", user=BEN, chat=chat, thread=thread)
    said = await house.until_said(chat, 3)
    house.api.say(f"{BOT} why?", user=BEN, chat=chat, thread=trees, reply_to=said[1]["message_id"])
    said = await house.until_said(chat, 4)

    assert [each.get("message_thread_id") for each in said] == [roses, trees, None, trees]
    texts = [each.text for each in await house.until_delivered("Garden", 4)]
    assert ['in the thread "Roses"' in text for text in texts] == [True, False, False, False]
    assert ['in the thread "Trees"' in text for text in texts] == [False, True, False, True]
    assert ["in reply to" in text for text in texts] == [False, False, False, True]


async def test_an_album_and_a_long_text_are_one_message_each_though_others_write_in_between(
    house: House,
) -> None:
    chat = await house.served("Garden", [BEN, EVE])
    await house.taken()
    house.api.people.show_album([(PNG, f"{BOT} look"), (PNG, "and this")], user=BEN, chat=chat)
    house.api.say("a" * 4096, user=BEN, chat=chat)
    house.api.say("nice", user=EVE, chat=chat)
    house.api.say(f"b {BOT}", user=BEN, chat=chat)

    async with house.bench.time_flies():
        await house.until_delivered("Garden", 2)
        await house.taken()

    album, long, *rest = [one for one in house.delivered("Garden") if one.wakes_root]
    assert (len(album.images), rest) == (2, [])
    assert f"{BOT} look\n  and this" in album.text
    assert f"{'a' * 4096}b {BOT}" in long.text


async def test_what_is_written_in_two_topics_at_once_is_not_one_text(house: House) -> None:
    chat = await house.served("Garden", [BEN], forum=True)
    topic = house.api.groups.open_topic(chat, "Roses")
    house.api.say("a" * 4096, user=BEN, chat=chat)
    house.api.say(f"{BOT} b", user=BEN, chat=chat, thread=topic)

    async with house.bench.time_flies():
        await house.until_delivered("Garden", 2)

    _, addressed = house.delivered("Garden")
    assert addressed.text.endswith(f"{BOT} b")
    assert "aa" not in addressed.text


async def test_of_who_is_not_served_no_picture_is_fetched(house: House) -> None:
    """Else anybody could fill the disk of the agent service."""
    asked = house.api.groups.found("Garden", [BEN])
    await house.asked_of("Garden")
    house.api.people.show_photo(PNG, f"{BOT} look", user=BEN, chat=asked)
    house.api.people.show_photo(PNG, "look", user=EVE)
    await house.taken()

    quiet = await house.served("Quiet", [BEN])
    await house.set(quiet, GroupSettings(learn=False))
    house.api.people.show_photo(PNG, "look", user=BEN, chat=quiet)
    await house.taken()

    assert (house.api.calls["getFile"], house.agent.images) == (0, {})


async def test_an_edit_is_marked_as_one(house: House) -> None:
    chat = await house.served("Garden", [BEN])
    message = house.api.say(f"{BOT} roses?", user=BEN, chat=chat)
    await house.until_delivered("Garden", 1)
    house.api.edit(message, f"{BOT} trees?", user=BEN, chat=chat)

    first, again = await house.until_delivered("Garden", 2)

    assert ("edited: " in first.text, "edited: " in again.text) == (False, True)
    assert again.key != first.key


async def test_commands_are_for_administrators_also_for_those_who_hide(house: House) -> None:
    chat = await house.served("Garden", [BEN, EVE])
    house.api.groups.promote(chat, EVE, anonymous=True)
    for who in (BEN, EVE, OWNER):
        house.api.say("/bot status", user=who, chat=chat)

    said = [each["text"] for each in await house.until_said(chat, 3)]

    assert said[0] == REFUSED
    assert [text.startswith("Agent: Group1") for text in said[1:]] == [True, True]
    assert (house.agent.deliveries, house.agent.judged) == ({}, [])


async def test_a_memory_is_cleared_after_one_confirmation(house: House) -> None:
    chat = await house.served("Garden", [BEN])
    house.api.say(f"{BOT} roses?", user=BEN, chat=chat)
    await house.until_delivered("Garden", 1)
    house.api.say("/bot clear-memory", chat=chat)
    await house.until_said(chat)
    house.api.say("/bot clear-memory yes", chat=chat)

    said = await house.until_said(chat, 2)

    assert "kept-1" in said[1]["text"]
    assert [len(log) for log in house.agent.kept.values()] == [1]


async def test_what_the_owner_says_in_a_group_is_the_groups_and_not_the_roots(house: House) -> None:
    house.agent.answer_all = "Yes?"
    chat = await house.served("Garden", [BEN])
    house.api.say(f"{BOT} my secret", chat=chat)
    await house.until_said(chat)
    house.api.say("to the root")
    await house.agent.until(lambda: len(house.agent.deliveries) == 2)

    group, root = house.agent.deliveries.values()

    assert (group.to, group.source, group.backed) == ("group-1", f"telegram:{chat}", False)
    assert (root.to, root.source, root.text) == ("", "user", "to the root")
    assert "Yes?" not in house.api.texts(OWNER)


async def test_a_group_hears_nothing_of_the_owners_chat(house: House) -> None:
    chat = await house.served("Garden", [BEN])

    await house.agent.reply("for the owner alone")
    await house.until(lambda: "for the owner alone" in house.api.texts(OWNER))
    await house.taken()

    assert house.api.texts(chat) == []


async def test_an_answer_for_a_group_that_was_left_meanwhile_is_not_said(house: House) -> None:
    chat = await house.served("Garden", [BEN])
    house.api.say(f"{BOT} roses?", user=BEN, chat=chat)
    [delivery] = await house.until_delivered("Garden", 1)
    house.api.groups.remove_bot(chat)
    await house.until(lambda: house.state_of(chat) == "left")

    await house.agent.answer(delivery, "Too late.")
    await house.agent.reply("next")
    await house.until(lambda: "next" in house.api.texts(OWNER))

    assert house.api.texts(chat) == []
    assert house.running.gateway.outbox.set_aside() == []


async def test_somebody_elses_press_admits_no_group(house: House) -> None:
    chat = house.api.groups.found("Garden", [BEN])
    await house.asked_of("Garden")

    house.press("Garden", YES, user=BEN)
    await house.until(lambda: bool(house.api.callbacks.answers))

    assert [each["text"] for each in house.api.callbacks.answers.values()] == [NOT_FOR_YOU]
    assert house.state_of(chat) == "asked"


async def test_a_reply_that_comes_again_and_is_longer_then_says_nothing_more(house: House) -> None:
    """After a kill the same line may be worded anew, such as a status."""
    chat = await house.served("Garden", [BEN])
    adapter, place = house.running.gateway.adapter, Place(chat=ChatId(str(chat)), message=MessageId(""))

    for key, text in (("1", "short"), ("1", "long\n\n" * 2000), ("2", "the end")):
        await adapter.reply(MessageKey(key), place, text)
    await house.taken()

    assert house.api.texts(chat) == ["short", "the end"]
