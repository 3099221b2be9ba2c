"""What Telegram sends of groups, as group chats have it."""

from datetime import UTC, datetime
from typing import Any

import pytest
from onechat_telegram.domain.ids import BotId, ChatId
from onechat_telegram.groups.domain.ids import MemberId
from onechat_telegram.groups.domain.messages import Command, Member, Mention, Message, Quote
from onechat_telegram.platform.events import (
    BecameSupergroup,
    BotGone,
    BotJoined,
    NothingHeard,
    Words,
    basic_group_of,
    key_of_joining,
    read_event,
    topic_of,
)
from onechat_telegram.platform.messages import message_of, picture_named, with_images

BOT = BotId(8)
KIM = {"id": 2, "is_bot": False, "first_name": "Kim", "last_name": "L"}
ONE = {"id": 8, "is_bot": True, "first_name": "One"}
ANONYMOUS = {"id": 1087968824, "is_bot": True, "first_name": "Group", "username": "GroupAnonymousBot"}
GARDEN = {"id": -1005, "type": "supergroup", "title": "Garden", "is_forum": True}
NEWS = {"id": -1009, "type": "channel", "title": "News"}
DATE = 1_800_000_000


def update(**fields: Any) -> dict[str, Any]:
    return {"message": {"message_id": 7, "date": DATE, "from": KIM, "chat": GARDEN} | fields}


def heard(*updates: dict[str, Any], **fields: Any) -> Message:
    return message_of(BOT, updates or [update(**fields)])


def member(number: str, name: str, *, is_bot: bool = False) -> Member:
    return Member(id=MemberId(number), name=name, is_bot=is_bot)


def entity(kind: str, offset: int, length: int, **more: Any) -> dict[str, Any]:
    return {"type": kind, "offset": offset, "length": length, **more}


def test_a_message_says_who_wrote_what_where_and_when() -> None:
    message = heard(text="The roses 🌹 bloom.")

    assert (message.key, message.place.chat, message.place.message) == ("telegram:8:-1005:7", "-1005", "7")
    assert (message.title, message.private, message.sender) == ("Garden", False, member("2", "Kim L"))
    assert (message.text, message.time) == ("The roses 🌹 bloom.", datetime.fromtimestamp(DATE, UTC))


def test_an_edit_has_a_key_of_its_own_and_the_time_of_the_edit() -> None:
    message = heard({"edited_message": update(text="better", edit_date=DATE + 9)["message"]})

    assert (message.edited, message.key) == (True, f"telegram:8:-1005:7:{DATE + 9}")
    assert message.time == datetime.fromtimestamp(DATE + 9, UTC)


@pytest.mark.parametrize(
    ("fields", "mentions"),
    [
        ({"text": "👋 @mybot hi", "entities": [entity("mention", 3, 6)]}, (Mention(handle="mybot"),)),
        ({"text": "@mybott", "entities": [entity("mention", 0, 7)]}, (Mention(handle="mybott"),)),
        ({"text": "@mybot", "entities": [entity("code", 0, 6)]}, ()),
        (
            {"text": "👋 the bot", "entities": [entity("text_mention", 3, 7, user={"id": 8})]},
            (Mention(member=MemberId("8")),),
        ),
        (
            {"photo": [], "caption": "🌹🌹@mybot", "caption_entities": [entity("mention", 4, 6)]},
            (Mention(handle="mybot"),),
        ),
    ],
)
def test_mentions_are_what_telegram_marks_counted_in_its_units(
    fields: dict[str, Any], mentions: tuple[Mention, ...]
) -> None:
    assert heard(**fields).mentions == mentions


def test_code_is_told_in_code_points() -> None:
    message = heard(text="😀 x = y 😀", entities=[entity("code", 3, 5), entity("bold", 0, 2)])

    assert [message.text[begin:end] for begin, end in message.code] == ["x = y"]


@pytest.mark.parametrize(
    ("text", "length", "command"),
    [
        ("/bot status", 4, Command(name="bot", rest="status")),
        ("/bot@mybot  clear-memory yes", 10, Command(name="bot", to="mybot", rest="clear-memory yes")),
        ("/weather", 8, Command(name="weather")),
    ],
)
def test_a_command_is_what_stands_at_the_beginning_and_is_marked(
    text: str, length: int, command: Command
) -> None:
    assert heard(text=text, entities=[entity("bot_command", 0, length)]).command == command


@pytest.mark.parametrize(
    "fields",
    [
        {"text": "/bot status"},  # marked by nobody, as in code
        {"text": "say /bot status", "entities": [entity("bot_command", 4, 4)]},
        {
            "text": "/bot status",
            "entities": [entity("bot_command", 0, 4)],
            "forward_origin": {"type": "user", "sender_user": KIM},
        },
    ],
)
def test_what_is_not_given_as_a_command_is_none(fields: dict[str, Any]) -> None:
    """Least of all a forwarded one: nobody is to clear a memory by passing words on."""
    assert heard(**fields).command is None


@pytest.mark.parametrize(
    ("origin", "whose"),
    [
        ({"type": "user", "sender_user": KIM}, "Kim L"),
        ({"type": "hidden_user", "sender_user_name": "Eve"}, "Eve"),
        ({"type": "channel", "chat": NEWS}, "News"),
        ({"type": "chat", "sender_chat": GARDEN}, "Garden"),
        ({"type": "hidden_user"}, ""),
    ],
)
def test_a_forward_names_whose_words_it_repeats(origin: dict[str, Any], whose: str) -> None:
    assert heard(text="x", forward_origin=origin).forwarded_from == whose


def test_an_administrator_who_hides_is_the_group_itself() -> None:
    message = heard(text="x", **{"from": ANONYMOUS, "sender_chat": GARDEN, "author_signature": "boss"})

    assert message.sender == member("-1005", "Garden")


def test_a_channels_post_in_its_group_is_the_channels_and_never_a_command() -> None:
    message = heard(
        text="/bot status",
        entities=[entity("bot_command", 0, 4)],
        is_automatic_forward=True,
        sender_chat=NEWS,
        forward_origin={"type": "channel", "chat": NEWS},
        **{"from": {"id": 777000, "is_bot": False, "first_name": "Telegram"}},
    )

    assert message.sender == member("-1009", "News")
    assert (message.command, message.forwarded_from) == (None, "News")


def test_another_bot_is_known_as_one() -> None:
    assert heard(text="x", **{"from": {"id": 9, "is_bot": True, "first_name": "Other"}}).sender.is_bot


CREATION = {"message_id": 3, "date": 1, "from": KIM, "chat": GARDEN, "forum_topic_created": {"name": "Roses"}}


@pytest.mark.parametrize(
    ("fields", "thread"),
    [
        ({"message_thread_id": 3, "is_topic_message": True}, "3"),
        ({"message_thread_id": 1, "is_topic_message": True}, ""),
        ({"message_thread_id": 3}, ""),  # of a reply outside topics
        ({}, ""),
    ],
)
def test_a_thread_is_a_topic_that_can_be_named(fields: dict[str, Any], thread: str) -> None:
    assert heard(text="x", **fields).place.thread == thread


def test_what_telegram_writes_itself_as_a_reply_in_a_topic_is_none() -> None:
    topic = {"message_thread_id": 3, "is_topic_message": True}

    assert heard(text="x", reply_to_message=CREATION, **topic).answers is None
    root = {"message_id": 3, "from": ONE, "text": "a root"}
    assert heard(text="x", reply_to_message=root, **topic).answers is None


@pytest.mark.parametrize(
    ("fields", "quote"),
    [
        (
            {"reply_to_message": {"message_id": 4, "from": ONE, "text": "In May."}},
            Quote(author=member("8", "One", is_bot=True), text="In May."),
        ),
        (
            {
                "reply_to_message": {"message_id": 4, "from": ANONYMOUS, "sender_chat": GARDEN, "text": "ab"},
                "quote": {"text": "b"},
            },
            Quote(author=member("-1005", "Garden"), text="b"),
        ),
        (
            {
                "external_reply": {"origin": {"type": "hidden_user", "sender_user_name": "Eve"}},
                "quote": {"text": "b"},
            },
            Quote(author=member("hidden", "Eve"), text="b"),
        ),
        ({"reply_to_message": {"message_id": 4, "from": KIM, "new_chat_title": "x"}}, None),
    ],
)
def test_a_reply_quotes_what_it_answers_by_whom(fields: dict[str, Any], quote: Quote | None) -> None:
    assert heard(text="x", **fields).answers == quote


def test_the_parts_of_an_album_are_one_message_with_all_captions_and_pictures() -> None:
    sizes = [{"file_id": "big", "width": 9, "height": 9}, {"file_id": "small", "width": 1, "height": 1}]
    parts = [
        update(photo=sizes, caption="a", media_group_id="1"),
        update(photo=sizes[:1], message_id=8, media_group_id="1"),
        update(video={}, caption="😀 @mybot", message_id=9, media_group_id="1",
               caption_entities=[entity("mention", 3, 6)]),
    ]  # fmt: skip

    message = heard(*parts)

    assert message.key == "telegram:8:-1005:7"
    assert message.text == "a\n😀 @mybot\n[sent with it, but not to be seen here: Videos]"
    assert [picture_named(image).files for image in message.images] == [("big", "small"), ("big",)]
    assert message.mentions == (Mention(handle="mybot"),)


def test_code_in_a_texts_continuation_stands_where_it_is_in_the_whole() -> None:
    first = update(text="😀" * 2048)
    rest = update(text="and @x `y`", message_id=8, entities=[entity("code", 4, 2)])

    message = heard(first, rest)

    assert message.text == "😀" * 2048 + "and @x `y`"
    assert [message.text[begin:end] for begin, end in message.code] == ["@x"]


def test_addresses_stand_after_their_words_and_are_no_place_for_a_name() -> None:
    """The agent reads text alone; but what nobody sees in Telegram must not call the bot."""
    first = update(
        text="😀 see this `a` and that",
        entities=[
            entity("text_link", 7, 4, url="https://x.example/robobot"),
            entity("code", 12, 3),
            entity("text_link", 20, 4, url="https://y.example"),
        ],
        media_group_id="1",
    )
    second = update(text="then `b`", message_id=8, entities=[entity("code", 5, 3)], media_group_id="1")

    message = heard(first, second)

    assert message.text == (
        "😀 see this (https://x.example/robobot) `a` and that (https://y.example)\nthen `b`"
    )
    assert [message.text[begin:end] for begin, end in message.code] == [
        " (https://x.example/robobot)",
        " (https://y.example)",
        "`a`",
        "`b`",
    ]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"chat": GARDEN}, ""),
        ({"chat": {"id": 2, "type": "private"}}, "[sent with it, but not to be seen here: Voice messages]"),
        (
            {"chat": GARDEN, "reply_to_message": {"message_id": 4, "from": {"id": 8}, "text": "In May."}},
            "[sent with it, but not to be seen here: Voice messages]",
        ),
    ],
)
def test_what_is_not_read_is_told_the_agent_where_an_answer_is_due(fields: dict[str, Any], text: str) -> None:
    """A member who sends the bot a voice message is to hear something; a group's stickers are nothing."""
    assert heard(voice={}, **fields).text == text


def test_a_private_message_has_no_title_and_no_thread() -> None:
    message = heard(text="x", chat={"id": 2, "type": "private", "first_name": "Kim"})

    assert (message.private, message.title, message.place.chat, message.place.thread) == (True, "", "2", "")


def test_halves_of_letters_become_whole_text() -> None:
    message = heard(
        text="a\ud83d b", chat=GARDEN | {"title": "\ud83d"}, **{"from": KIM | {"first_name": "\ude00"}}
    )

    for text in (message.text, message.title, message.sender.name):
        text.encode()


def test_images_that_could_not_be_read_leave_a_word_of_them() -> None:
    message = with_images(heard(photo=[], caption="look"), ["a.png"], 2)

    assert message.images == ("a.png",)
    assert message.text == "look\n[sent with it, but not to be seen here: a picture, a picture]"


def standing(old: dict[str, Any], new: dict[str, Any], **chat: Any) -> dict[str, Any]:
    return {
        "update_id": 70,
        "my_chat_member": {
            "chat": GARDEN | chat,
            "from": KIM,
            "date": DATE,
            "old_chat_member": old,
            "new_chat_member": new,
        },
    }


LEFT, MEMBER, ADMIN, KICKED = ({"status": s} for s in ("left", "member", "administrator", "kicked"))
MUTED, MUTED_OUT = ({"status": "restricted", "is_member": inside} for inside in (True, False))


@pytest.mark.parametrize(("old", "new"), [(LEFT, MEMBER), (KICKED, ADMIN), (MUTED_OUT, MUTED), (LEFT, MUTED)])
def test_the_bot_is_in_a_group_where_it_was_not(old: dict[str, Any], new: dict[str, Any]) -> None:
    joined = read_event(standing(old, new))

    assert isinstance(joined, BotJoined)
    assert (joined.chat, joined.title, joined.by, joined.name) == (-1005, "Garden", 2, "Kim L")
    assert key_of_joining(BOT, joined) == f"telegram:8:-1005:joined:{DATE}:70"


@pytest.mark.parametrize(("old", "new"), [(MEMBER, LEFT), (ADMIN, KICKED), (MUTED, MUTED_OUT)])
def test_the_bot_is_gone(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert read_event(standing(old, new)) == BotGone(chat=ChatId(-1005))


@pytest.mark.parametrize(
    "event",
    [
        standing(MEMBER, ADMIN),
        standing(ADMIN, MUTED),
        standing(KICKED, LEFT),
        standing(LEFT, ADMIN, type="channel"),
        update(new_chat_members=[KIM]),
        update(forum_topic_created={"name": "Roses"}, message_thread_id=7, is_topic_message=True),
        {"message": {"message_id": 1, "date": 1, "chat": GARDEN, "text": "of nobody"}},
    ],
)
def test_what_else_befalls_a_group_is_not_heard(event: dict[str, Any]) -> None:
    assert read_event(event) == NothingHeard()


def test_both_chats_of_a_move_tell_it() -> None:
    basic = {"id": -5, "type": "group", "title": "Garden"}
    moved = BecameSupergroup(old=ChatId(-5), new=ChatId(-1005))

    assert read_event(update(chat=basic, migrate_to_chat_id=-1005)) == moved
    assert read_event(update(migrate_from_chat_id=-5)) == moved
    assert read_event(update(text="x")) == Words()
    assert (basic_group_of(update(chat=basic)), basic_group_of(update())) == (-5, None)


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"forum_topic_created": {"name": "Roses"}}, "Roses"),
        ({"forum_topic_edited": {"name": "Trees"}, "reply_to_message": CREATION}, "Trees"),
        ({"forum_topic_edited": {"icon_custom_emoji_id": "1"}}, None),
        ({"text": "x", "reply_to_message": CREATION}, "Roses"),
        ({"text": "x"}, None),
    ],
)
def test_a_topics_name_is_told_by_some_of_its_messages(fields: dict[str, Any], name: str | None) -> None:
    topic = topic_of(update(message_thread_id=3, is_topic_message=True, **fields))

    assert topic == (None if name is None else (-1005, 3, name))
