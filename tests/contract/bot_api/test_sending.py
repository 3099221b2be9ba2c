"""What is taken and what is refused of a message, by Telegram's limits: UTF-16 units, entities, replies."""

import pytest

from tests.fakes.bot_api import OWNER

SEND = {"chat_id": OWNER}


def entity(kind, offset, length, **more):
    return {"type": kind, "offset": offset, "length": length} | more


@pytest.mark.parametrize("text", ["a" * 4096, "😀" * 2048, "a" * 4094 + "🎩"])
async def test_a_text_of_4096_units_is_sent(text, api, call):
    sent = await call("sendMessage", **SEND, text=text)

    assert sent.result["text"] == text
    assert api.texts() == [text]


@pytest.mark.parametrize("text", ["a" * 4097, "😀" * 2048 + "a", "a" * 4095 + "🎩"])
async def test_a_text_of_more_units_is_refused_however_few_its_characters(text, api, call):
    refused = await call("sendMessage", **SEND, text=text)

    assert refused.refusal == (400, "Bad Request: message is too long")
    assert api.sent == []


@pytest.mark.parametrize("text", ["", " \n\t"])
async def test_a_blank_text_is_refused(text, call):
    refused = await call("sendMessage", **SEND, text=text)

    assert refused.refusal == (400, "Bad Request: message text is empty")


@pytest.mark.parametrize(
    "entities",
    [
        [entity("bold", 0, 8), entity("italic", 2, 3)],
        [entity("bold", 0, 3), entity("code", 3, 3)],
        [entity("blockquote", 0, 8), entity("pre", 0, 4, language="py")],
        [entity("text_link", 3, 2, url="https://a.example/x_y")],
        [entity("bold", 6, 2)],
    ],
)
async def test_entities_that_nest_as_they_may_are_shown(entities, call):
    sent = await call("sendMessage", **SEND, text="abcdef🎩", entities=entities)

    assert sent.result["entities"] == entities


@pytest.mark.parametrize(
    "entities",
    [
        [entity("bold", 0, 4), entity("italic", 2, 4)],
        [entity("bold", 0, 4), entity("code", 1, 2)],
        [entity("pre", 0, 4), entity("code", 1, 2)],
        [entity("blockquote", 0, 4), entity("expandable_blockquote", 1, 2)],
        [entity("bold", 7, 1)],
        [entity("bold", 0, 7)],
        [entity("bold", 0, 9)],
        [entity("bold", -1, 2)],
        [entity("bold", 0, 0)],
        [entity("shout", 0, 2)],
        [entity("text_link", 0, 2, url="javascript:alert(1)")],
        [entity("text_link", 0, 2, url="../there")],
        [{"type": "bold"}],
        [entity("bold", 0, 1)] * 101,
        {"type": "bold"},
        "[",
    ],
)
async def test_entities_that_would_not_be_shown_as_they_are_are_refused(entities, api, call):
    """They cross, split a surrogate pair, go past the end, or are of no known kind."""
    refused = await call("sendMessage", **SEND, text="abcdef🎩", entities=entities)

    assert refused.refusal[0] == 400
    assert api.sent == []


async def test_a_caption_ends_at_1024_units(call):
    photo = (await call("sendPhoto", **SEND, photo="none", caption="🎩" * 513)).refusal
    document = (await call("sendDocument", **SEND, document="none", caption="a" * 1025)).refusal

    assert photo == document == (400, "Bad Request: message caption is too long")


async def test_markup_in_a_text_is_not_read(call):
    refused = await call("sendMessage", **SEND, text="*a*", parse_mode="MarkdownV2")

    assert refused.refusal == (400, "Bad Request: unsupported parse_mode")


async def test_a_bot_writes_to_nobody_who_has_not_written_first_or_has_blocked_it(api, call):
    stranger = await call("sendMessage", chat_id=99, text="hello?")
    api.groups.block(OWNER)

    blocked = await call("sendMessage", **SEND, text="hello?")

    assert stranger.refusal == (400, "Bad Request: chat not found")
    assert blocked.refusal == (403, "Forbidden: bot was blocked by the user")


@pytest.mark.parametrize("chat", [None, "", "no number", True])
async def test_a_chat_that_is_no_number_is_refused(chat, call):
    refused = await call("sendMessage", chat_id=chat, text="hello?")

    assert refused.refusal[0] == 400


async def test_a_reply_quotes_its_message_without_what_that_answered(api, call):
    first = api.say("one")
    second = api.say("two", reply_to=first)

    sent = await call("sendMessage", **SEND, text="three", reply_parameters={"message_id": second})

    quoted = sent.result["reply_to_message"]
    assert (quoted["message_id"], quoted["text"]) == (second, "two")
    assert "reply_to_message" not in quoted


async def test_a_reply_to_a_message_that_is_gone_is_refused_unless_that_is_allowed(call):
    gone = {"message_id": 12_345}

    refused = await call("sendMessage", **SEND, text="a", reply_parameters=gone)
    allowed = await call(
        "sendMessage", **SEND, text="b", reply_parameters=gone | {"allow_sending_without_reply": True}
    )

    assert refused.refusal == (400, "Bad Request: message to be replied not found")
    assert "reply_to_message" not in allowed.result


async def test_a_quote_is_part_of_what_it_quotes(api, call):
    said = api.say("one two three")

    part = await call("sendMessage", **SEND, text="a", reply_parameters={"message_id": said, "quote": "two"})
    other = await call("sendMessage", **SEND, text="b", reply_parameters={"message_id": said, "quote": "six"})

    assert part.status == 200
    assert other.refusal == (400, "Bad Request: QUOTE_TEXT_INVALID")


async def test_only_an_action_that_telegram_shows_is_taken(api, call):
    typing = await call("sendChatAction", **SEND, action="typing")
    thinking = await call("sendChatAction", **SEND, action="thinking")

    assert typing.result is True
    assert thinking.refusal[0] == 400
    assert api.actions == [(OWNER, "typing")]


async def test_flood_control_refuses_until_the_seconds_that_it_told_have_passed(api, call, clock):
    """A message a second in a chat; who tries again too early is still refused."""
    api.flood.on = True
    await call("sendMessage", **SEND, text="one")

    refused = await call("sendMessage", **SEND, text="two")
    clock.now += 0.5
    early = await call("sendMessage", **SEND, text="two")
    clock.now += 0.5
    in_time = await call("sendMessage", **SEND, text="two")

    assert refused.body["parameters"] == {"retry_after": 1}
    assert early.refusal[0] == 429
    assert in_time.status == 200
    assert api.texts() == ["one", "two"]


async def test_flood_control_lets_a_group_have_twenty_a_minute(api, call, clock):
    chat = api.groups.found("Crew")
    api.flood.on = True
    sent = [await call("sendMessage", chat_id=chat, text=str(number)) for number in range(20)]

    refused = await call("sendMessage", chat_id=chat, text="one more")

    assert {answer.status for answer in sent} == {200}
    assert refused.body["parameters"] == {"retry_after": 60}


async def test_flood_control_lets_a_bot_send_thirty_a_second_in_all(api, call):
    api.chats.update(range(1, 32))
    api.flood.on = True
    sent = [await call("sendMessage", chat_id=chat, text="hi") for chat in range(1, 31)]

    refused = await call("sendMessage", chat_id=31, text="hi")

    assert {answer.status for answer in sent} == {200}
    assert refused.refusal[0] == 429


@pytest.mark.parametrize("command", ["Help", "a b", "x" * 33, ""])
async def test_a_menu_has_names_of_small_letters_digits_and_underscores(command, api, call):
    menu = [{"command": command, "description": "What there is"}]

    refused = await call("setMyCommands", commands=menu)

    assert refused.refusal == (400, "Bad Request: BOT_COMMAND_INVALID")
    assert api.commands == []


async def test_a_menu_ends_at_100_commands_and_a_description_at_256_characters(call):
    command = {"command": "help", "description": "x" * 256}

    full = await call("setMyCommands", commands=[command] * 100)
    more = await call("setMyCommands", commands=[command] * 101)
    longer = await call("setMyCommands", commands=[command | {"description": "x" * 257}])

    assert (full.status, more.status, longer.status) == (200, 400, 400)


async def test_menus_of_other_scopes_are_kept_apart(api, call):
    everybody = [{"command": "help", "description": "What there is"}]
    groups = [{"command": "bot", "description": "What the bot does here"}]
    await call("setMyCommands", commands=everybody)

    await call("setMyCommands", commands=groups, scope={"type": "all_group_chats"})

    assert api.commands == everybody
    assert (await call("getMyCommands", scope={"type": "all_group_chats"})).result == groups
