"""Groups: who is in them and may do what, topics, administrators who hide, and a move."""

import pytest

from tests.fakes.bot_api import ANONYMOUS, OWNER

ADA, BEN = 7, 8


def messages(api):
    return [update["message"] for update in api.updates if "message" in update]


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
    api.privacy = False
    chat = api.groups.found("Crew", [ADA], kind=kind)
    api.updates.clear()

    api.groups.remove_bot(chat)
    api.say("still there?", user=ADA, chat=chat)

    refused = await call("sendMessage", chat_id=chat, text="yes")
    assert api.updates[0]["my_chat_member"]["new_chat_member"]["status"] == status
    assert [message for message in messages(api) if "text" in message] == []
    assert refused.refusal == (403, said)


async def test_a_basic_group_says_so_itself_when_it_removes_the_bot(api):
    chat = api.groups.found("Crew", kind="group")
    api.updates.clear()

    api.groups.remove_bot(chat)

    [message] = messages(api)
    assert message["left_chat_member"] == api.bot()


async def test_a_bot_that_leaves_is_outside(crew, api, call):
    left = await call("leaveChat", chat_id=crew)

    assert left.result is True
    assert (await call("sendMessage", chat_id=crew, text="?")).refusal[0] == 403


async def test_a_muted_bot_is_inside_and_can_not_write(crew, api, call):
    api.groups.mute_bot(crew)

    refused = await call("sendMessage", chat_id=crew, text="hi")

    [update] = api.updates
    assert update["my_chat_member"]["new_chat_member"]["is_member"] is True
    assert refused.refusal == (400, "Bad Request: not enough rights to send text messages to the chat")


async def test_hidden_members_are_shown_to_administrators_alone(crew, api, call):
    """A bot that is none still gets the list of administrators."""
    api.groups.hide_members(crew)

    outside = await call("getChatMember", chat_id=crew, user_id=ADA)
    own = await call("getChatMember", chat_id=crew, user_id=api.bot_id)
    administrators = await call("getChatAdministrators", chat_id=crew)
    api.groups.promote(crew, api.bot_id)
    inside = await call("getChatMember", chat_id=crew, user_id=ADA)

    assert outside.refusal == (400, "Bad Request: CHAT_ADMIN_REQUIRED")
    assert own.status == administrators.status == inside.status == 200
    assert (await call("getChat", chat_id=crew)).result["has_hidden_members"] is True


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


async def test_an_administrator_who_hides_writes_as_the_group(open_crew, api):
    api.groups.promote(open_crew, ADA, anonymous=True, title="Chief")

    api.say("hi", user=ADA, chat=open_crew)

    [message] = messages(api)
    assert message["from"]["id"] == ANONYMOUS
    assert message["sender_chat"]["id"] == open_crew
    assert message["author_signature"] == "Chief"


async def test_a_topics_messages_name_it_and_the_first_answers_its_creation(forum, api):
    topic = api.groups.open_topic(forum, "Tools")

    api.say("here", user=ADA, chat=forum, thread=topic)
    api.say("general", user=ADA, chat=forum)

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


async def test_a_thread_that_is_no_topic_can_not_be_written_into(open_crew, api, call):
    """A reply in a supergroup without topics has a thread id, which leads nowhere."""
    first = api.say("?", user=ADA, chat=open_crew)
    api.say("!", user=BEN, chat=open_crew, reply_to=first)
    _, reply = messages(api)

    refused = await call(
        "sendMessage", chat_id=open_crew, text="!", message_thread_id=reply["message_thread_id"]
    )

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


@pytest.mark.parametrize("join_first", [True, False])
async def test_a_group_that_moves_says_where_to_in_both_chats_and_to_whoever_writes(join_first, api, call):
    old = api.groups.found("Crew", [ADA], kind="group")
    api.updates.clear()

    new = api.groups.migrate(old, join_first=join_first)

    refused = await call("sendMessage", chat_id=old, text="hi")
    sent = await call("sendMessage", chat_id=new, text="hi")
    gone, come = messages(api)
    assert (gone["chat"]["id"], gone["migrate_to_chat_id"]) == (old, new)
    assert (come["chat"]["id"], come["migrate_from_chat_id"]) == (new, old)
    [joined] = [update["my_chat_member"] for update in api.updates if "my_chat_member" in update]
    assert (joined["chat"]["id"], joined["new_chat_member"]["status"]) == (new, "member")
    assert ("my_chat_member" in api.updates[0]) is join_first
    assert refused.refusal[0] == 400
    assert refused.body["parameters"] == {"migrate_to_chat_id": new}
    assert sent.result["chat"]["type"] == "supergroup"
    assert (await call("getChatMember", chat_id=new, user_id=ADA)).result["status"] == "member"


async def test_a_group_that_moves_shows_the_bot_what_it_showed_before(api):
    api.privacy = False
    moved = api.groups.migrate(api.groups.found("Crew", [ADA], kind="group"))
    api.updates.clear()

    api.say("hello all", user=ADA, chat=moved)

    assert [message["text"] for message in messages(api)] == ["hello all"]


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
