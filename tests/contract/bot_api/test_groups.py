"""Groups: who is in them, what of them reaches the bot, topics, administrators who hide, and a move."""

import pytest

from tests.fakes.bot_api import ANONYMOUS, OWNER
from tests.fakes.bot_api_found import covered
from tests.fakes.pictures import PNG

ADA, BEN = 7, 8
NAME = "@onechat_test_bot"


@pytest.fixture
def crew(api):
    """A supergroup with the bot as a plain member; what founding it made is read."""
    chat = api.groups.found("Crew", [ADA, BEN])
    api.updates.clear()
    return chat


@pytest.fixture
def forum(api):
    """The same with topics."""
    chat = api.groups.found("Crew", [ADA, BEN], forum=True)
    api.updates.clear()
    return chat


def messages(api):
    return [update["message"] for update in api.updates if "message" in update]


@pytest.mark.parametrize(
    ("text", "reaches"),
    [
        ("hello all", False),
        (f"👋 {NAME} hi", True),
        (f"{NAME}t hi", False),
        (f"x{NAME} hi", False),
        ("/status", False),
        (f"/status{NAME}", True),
        ("/status@other_bot", False),
        ("@other_bot hi", False),
    ],
)
async def test_privacy_mode_hides_what_is_not_for_the_bot(text, reaches, crew, api):
    api.say(text, user=ADA, chat=crew)

    assert bool(messages(api)) is reaches


async def test_a_mention_within_code_is_none(crew, api):
    code = {"type": "code", "offset": 0, "length": len(NAME)}

    api.say(NAME, entities=[code], user=ADA, chat=crew)

    assert messages(api) == []


async def test_a_mention_in_a_caption_and_one_by_user_id_reach_the_bot(crew, api):
    mention = {"type": "text_mention", "offset": 0, "length": 2, "user": api.bot()}

    api.people.show_photo(PNG, f"{NAME} what is this?", user=ADA, chat=crew)
    api.say("my friend", entities=[mention], user=ADA, chat=crew)

    assert len(messages(api)) == 2


async def test_a_reply_to_the_bot_reaches_it_and_one_to_another_does_not(crew, api, call):
    theirs = (await call("sendMessage", chat_id=crew, text="hi")).result["message_id"]
    others = api.say("hi", user=ADA, chat=crew)

    api.say("to the bot", user=BEN, chat=crew, reply_to=theirs)
    api.say("to another", user=BEN, chat=crew, reply_to=others)

    assert [message["text"] for message in messages(api)] == ["to the bot"]


async def test_a_command_without_a_name_is_for_the_bot_that_wrote_last(crew, api, call):
    api.directory.introduce(99, "Other", is_bot=True)
    api.groups.join(crew, 99)
    await call("sendMessage", chat_id=crew, text="hi")
    api.updates.clear()

    api.say("/first", user=ADA, chat=crew)
    api.people.post({"text": "I wrote last"}, user=99, chat=crew)
    api.say("/second", user=ADA, chat=crew)

    assert [message["text"] for message in messages(api)] == ["/first"]


async def test_without_privacy_mode_or_as_administrator_the_bot_sees_everything_but_bots(crew, api, call):
    api.directory.introduce(99, "Other", is_bot=True)
    api.groups.join(crew, 99)
    api.updates.clear()

    api.privacy = False
    api.say("one", user=ADA, chat=crew)
    api.people.post({"text": "a bot"}, user=99, chat=crew)
    api.privacy = True
    api.groups.promote(crew, api.bot_id)
    api.say("two", user=ADA, chat=crew)

    assert [message["text"] for message in messages(api)] == ["one", "two"]


async def test_privacy_mode_is_said_by_get_me(api, call):
    with_it = (await call("getMe")).result["can_read_all_group_messages"]
    api.privacy = False

    assert with_it is False
    assert (await call("getMe")).result["can_read_all_group_messages"] is True


async def test_entities_are_found_where_they_stand_in_utf_16(crew, api):
    text = f"👋 {NAME} /go@x_bot #now"
    api.say(text, user=ADA, chat=crew)

    [message] = messages(api)
    found = [(entity["type"], covered(text, entity)) for entity in message["entities"]]
    assert found == [("mention", NAME), ("bot_command", "/go@x_bot"), ("hashtag", "#now")]
    assert message["entities"][0]["offset"] == 3


async def test_being_added_is_my_chat_member_and_a_service_message(api):
    chat = api.groups.found("Crew", [ADA], with_bot=False)
    before = list(api.updates)

    api.groups.add_bot(chat, by=ADA)

    changed, told = api.updates
    change = changed["my_chat_member"]
    statuses = [change[name]["status"] for name in ("old_chat_member", "new_chat_member")]
    assert before == []
    assert (change["from"]["id"], statuses) == (ADA, ["left", "member"])
    assert told["message"]["new_chat_members"] == [api.bot()]


@pytest.mark.parametrize(
    ("kind", "status", "said"),
    [
        ("group", "left", "Forbidden: bot is not a member of the group chat"),
        ("supergroup", "kicked", "Forbidden: bot was kicked from the supergroup chat"),
    ],
)
async def test_a_removed_bot_is_told_and_can_write_no_more(kind, status, said, api, call):
    chat = api.groups.found("Crew", [ADA], kind=kind)
    api.updates.clear()

    api.groups.remove_bot(chat)
    api.say(f"{NAME} still there?", user=ADA, chat=chat)

    refused = await call("sendMessage", chat_id=chat, text="yes")
    assert api.updates[0]["my_chat_member"]["new_chat_member"]["status"] == status
    assert [message for message in messages(api) if "text" in message] == []
    assert refused.refusal == (403, said)


async def test_a_bot_that_leaves_is_outside(crew, api, call):
    left = await call("leaveChat", chat_id=crew)

    assert left.result is True
    assert (await call("sendMessage", chat_id=crew, text="?")).refusal[0] == 403


async def test_administrators_are_listed_with_those_who_hide_and_without_other_bots(crew, api, call):
    api.directory.introduce(99, "Other", is_bot=True)
    api.groups.join(crew, 99)
    api.groups.promote(crew, 99)
    api.groups.promote(crew, ADA, anonymous=True)
    api.groups.promote(crew, api.bot_id)

    listed = (await call("getChatAdministrators", chat_id=crew)).result

    found = {member["user"]["id"]: member["status"] for member in listed}
    assert found == {OWNER: "creator", ADA: "administrator", api.bot_id: "administrator"}


async def test_a_members_standing_is_shown_and_a_strangers_is_left(crew, api, call):
    api.groups.leave(crew, BEN)
    api.directory.introduce(50, "Nobody")

    statuses = [
        (await call("getChatMember", chat_id=crew, user_id=user)).result["status"]
        for user in (OWNER, ADA, BEN, 50)
    ]

    assert statuses == ["creator", "member", "left", "left"]
    assert (await call("getChatMember", chat_id=crew, user_id=51)).refusal[0] == 400
    assert (await call("getChatMemberCount", chat_id=crew)).result == 3


async def test_an_administrator_who_hides_writes_as_the_group(crew, api):
    api.groups.promote(crew, ADA, anonymous=True, title="Chief")

    api.say(f"{NAME} hi", user=ADA, chat=crew)

    [message] = messages(api)
    assert message["from"]["id"] == ANONYMOUS
    assert message["sender_chat"]["id"] == crew
    assert message["author_signature"] == "Chief"


async def test_a_topics_messages_name_it_and_the_first_answers_its_creation(forum, api):
    topic = api.groups.open_topic(forum, "Tools")

    api.say(f"{NAME} here", user=ADA, chat=forum, thread=topic)
    api.say(f"{NAME} general", user=ADA, chat=forum)

    created, here, general = messages(api)
    assert created["message_id"] == created["message_thread_id"] == topic
    assert (here["message_thread_id"], here["is_topic_message"]) == (topic, True)
    assert "forum_topic_created" in here["reply_to_message"]
    assert "message_thread_id" not in general
    assert "is_topic_message" not in general


async def test_a_reply_without_a_thread_stays_in_the_topic_of_what_it_answers(forum, api, call):
    topic = api.groups.open_topic(forum, "Tools")
    asked = api.say("?", user=ADA, chat=forum, thread=topic)

    sent = await call("sendMessage", chat_id=forum, text="!", reply_parameters={"message_id": asked})

    assert sent.result["message_thread_id"] == topic


async def test_the_general_topic_is_not_named_in_a_message_and_may_be_in_an_action(forum, call):
    named = await call("sendMessage", chat_id=forum, text="hi", message_thread_id=1)
    without = await call("sendMessage", chat_id=forum, text="hi")
    typing = await call("sendChatAction", chat_id=forum, action="typing", message_thread_id=1)

    assert named.refusal == (400, "Bad Request: message thread not found")
    assert "message_thread_id" not in without.result
    assert typing.result is True


async def test_a_thread_that_is_no_topic_can_not_be_written_into(crew, api, call):
    """A reply in a supergroup without topics has a thread id, which leads nowhere."""
    first = api.say("?", user=ADA, chat=crew)
    api.say(f"{NAME}!", user=BEN, chat=crew, reply_to=first)
    [reply] = messages(api)

    refused = await call("sendMessage", chat_id=crew, text="!", message_thread_id=reply["message_thread_id"])

    assert reply["message_thread_id"] == first
    assert "is_topic_message" not in reply
    assert refused.refusal == (400, "Bad Request: message thread not found")
    private = await call("sendMessage", chat_id=OWNER, text="!", message_thread_id=first)
    assert private.refusal == refused.refusal


async def test_a_closed_topic_takes_only_what_its_keepers_write(forum, api, call):
    topic = api.groups.open_topic(forum, "Tools")
    api.groups.close_topic(forum, topic)

    closed = await call("sendMessage", chat_id=forum, text="!", message_thread_id=topic)
    api.groups.promote(forum, api.bot_id, rights={"can_manage_topics": True})
    keeper = await call("sendMessage", chat_id=forum, text="!", message_thread_id=topic)
    api.groups.demote(forum, api.bot_id)
    api.groups.reopen_topic(forum, topic)
    reopened = await call("sendMessage", chat_id=forum, text="!", message_thread_id=topic)

    assert closed.refusal == (400, "Bad Request: TOPIC_CLOSED")
    assert (keeper.status, reopened.status) == (200, 200)


async def test_a_group_that_moves_says_where_to_in_both_chats_and_to_whoever_writes(api, call):
    old = api.groups.found("Crew", [ADA], kind="group")
    api.updates.clear()

    new = api.groups.migrate(old)

    refused = await call("sendMessage", chat_id=old, text="hi")
    sent = await call("sendMessage", chat_id=new, text="hi")
    gone, come = messages(api)
    assert (gone["chat"]["id"], gone["migrate_to_chat_id"]) == (old, new)
    assert (come["chat"]["id"], come["migrate_from_chat_id"]) == (new, old)
    assert refused.refusal[0] == 400
    assert refused.body["parameters"] == {"migrate_to_chat_id": new}
    assert sent.result["chat"]["type"] == "supergroup"
    assert (await call("getChatMember", chat_id=new, user_id=ADA)).result["status"] == "member"


async def test_a_supergroup_counts_its_own_messages_and_all_other_chats_share_a_count(api, call):
    basic = api.groups.found("Basic", kind="group")
    large = api.groups.found("Large")
    private = (await call("sendMessage", chat_id=OWNER, text="1")).result["message_id"]

    in_basic = (await call("sendMessage", chat_id=basic, text="2")).result["message_id"]
    in_large = (await call("sendMessage", chat_id=large, text="3")).result["message_id"]

    assert in_basic == private + 1
    assert in_large == 2  # after the word that the bot was added


async def test_who_is_outside_writes_nothing(crew, api):
    api.groups.leave(crew, BEN)

    with pytest.raises(ValueError, match="can't write"):
        api.say("hi", user=BEN, chat=crew)
