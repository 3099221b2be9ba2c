"""What of a group reaches the bot, and what Telegram finds in its texts."""

import pytest

from tests.fakes.bot_api_found import covered
from tests.fakes.pictures import PNG

ADA, BEN = 7, 8
NAME = "@onechat_test_bot"


def messages(api):
    return [update["message"] for update in api.updates if "message" in update]


@pytest.mark.parametrize(
    ("text", "reaches"),
    [
        ("hello all", False),
        (f"👋 {NAME} hi", False),
        ("/status", False),
        (f"/status{NAME}", True),
        ("/status@other_bot", False),
        ("@other_bot hi", False),
    ],
)
async def test_privacy_mode_hides_all_but_commands_for_the_bot(text, reaches, crew, api):
    """Even a mention: it is not on Telegram's list of what a bot gets."""
    api.say(text, user=ADA, chat=crew)

    assert bool(messages(api)) is reaches


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"👋 {NAME} hi", [NAME]),
        (f"{NAME}t hi", [f"{NAME}t"]),
        (f"x{NAME} hi", []),
        (f"a.b{NAME}.example", []),
    ],
)
async def test_a_mention_is_found_as_a_whole_word(text, found, open_crew, api):
    api.say(text, user=ADA, chat=open_crew)

    [message] = messages(api)
    entities = message.get("entities", [])
    assert [covered(text, entity) for entity in entities if entity["type"] == "mention"] == found


async def test_a_mention_within_code_is_none(open_crew, api):
    code = {"type": "code", "offset": 0, "length": len(NAME)}

    api.say(NAME, entities=[code], user=ADA, chat=open_crew)

    [message] = messages(api)
    assert message["entities"] == [code]


async def test_a_mention_in_a_caption_is_a_captions_entity(open_crew, api):
    api.people.show_photo(PNG, f"{NAME} what is this?", user=ADA, chat=open_crew)

    [message] = messages(api)
    assert message["caption_entities"] == [{"type": "mention", "offset": 0, "length": len(NAME)}]
    assert "entities" not in message


async def test_a_reply_to_the_bot_reaches_it_and_one_to_another_does_not(crew, api, call):
    theirs = (await call("sendMessage", chat_id=crew, text="hi")).result["message_id"]
    others = api.say("hi", user=ADA, chat=crew)

    api.say("to another", user=BEN, chat=crew, reply_to=others)
    first = api.say("to the bot", user=BEN, chat=crew, reply_to=theirs)
    api.say("to what was for the bot", user=ADA, chat=crew, reply_to=first)

    assert [message["text"] for message in messages(api)] == ["to the bot", "to what was for the bot"]


async def test_a_command_without_a_name_is_for_the_bot_that_wrote_last(crew, api, call):
    api.directory.introduce(99, "Other", is_bot=True)
    api.groups.join(crew, 99)
    await call("sendMessage", chat_id=crew, text="hi")
    api.updates.clear()

    api.say("/first", user=ADA, chat=crew)
    api.people.post({"text": "I wrote last"}, user=99, chat=crew)
    api.say("/second", user=ADA, chat=crew)

    assert [message["text"] for message in messages(api)] == ["/first"]


async def test_an_administrator_sees_everything_but_what_bots_write(crew, api):
    api.directory.introduce(99, "Other", is_bot=True)
    api.groups.join(crew, 99)
    api.groups.promote(crew, api.bot_id)
    api.updates.clear()

    api.say("one", user=ADA, chat=crew)
    api.people.post({"text": "a bot"}, user=99, chat=crew)

    assert [message["text"] for message in messages(api)] == ["one"]


async def test_privacy_mode_that_was_switched_off_counts_once_the_bot_is_added_again(crew, api):
    api.privacy = False
    api.say("still hidden", user=ADA, chat=crew)
    api.groups.remove_bot(crew)
    api.groups.add_bot(crew)

    api.say("seen", user=ADA, chat=crew)

    assert [message["text"] for message in messages(api) if "text" in message] == ["seen"]


async def test_privacy_mode_is_said_by_get_me(api, call):
    with_it = (await call("getMe")).result["can_read_all_group_messages"]
    api.privacy = False

    assert with_it is False
    assert (await call("getMe")).result["can_read_all_group_messages"] is True


async def test_entities_are_found_where_they_stand_in_utf_16(open_crew, api):
    text = f"👋 {NAME} /go@x_bot #now"
    api.say(text, user=ADA, chat=open_crew)

    [message] = messages(api)
    found = [(entity["type"], covered(text, entity)) for entity in message["entities"]]
    assert found == [("mention", NAME), ("bot_command", "/go@x_bot"), ("hashtag", "#now")]
    assert message["entities"][0]["offset"] == 3
