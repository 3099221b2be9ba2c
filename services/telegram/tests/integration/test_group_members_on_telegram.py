"""Members of groups in their private chats with the bot, and what Telegram keeps from it."""

import json
from collections.abc import AsyncIterator

import pytest
from onechat_telegram.domain.wording import NOT_FOR_YOU
from onechat_telegram.groups.domain.settings import GroupSettings
from onechat_telegram.joining import KIND
from onechat_telegram.platform.adapter import PRIVACY_MODE

from tests.fakes.agent_groups import GroupsAgentServicer
from tests.fakes.bot_api import OWNER
from tests.fakes.pictures import PNG
from tests.fakes.telegram_bench import Bench
from tests.fakes.telegram_house import House, at_home

BEN, EVE = 5550002, 5550003
BOT = "@onechat_test_bot"


@pytest.fixture
async def quiet_house(bench: Bench, agent: GroupsAgentServicer) -> AsyncIterator[House]:
    """A gateway whose bot is added to groups under privacy mode, as each new bot is."""
    async with at_home(bench, agent) as house:
        yield house


async def test_a_member_is_answered_in_private_by_the_groups_agent(house: House) -> None:
    house.agent.answer_all = "Yes, Ben."
    chat = await house.served("Garden", [BEN])
    asked = house.api.people.show_photo(PNG, "between us", user=BEN)

    [said] = await house.until_said(BEN)
    [delivery] = await house.until_delivered("Garden", 1)

    assert (said["text"], said["reply_to_message"]["message_id"]) == ("Yes, Ben.", asked)
    assert (delivery.source, delivery.backed, len(delivery.images)) == (f"telegram:{BEN}", False, 1)
    assert house.api.texts(chat) == []


async def test_whoever_is_in_no_group_is_refused_and_reaches_nothing(house: House) -> None:
    await house.served("Garden", [BEN])
    house.api.say("let me in", user=EVE)

    await house.until(lambda: house.api.texts(EVE) == [NOT_FOR_YOU])

    assert house.agent.deliveries == {}


async def test_a_member_waits_for_no_stranger(house: House) -> None:
    """Who sends one album after the other would else keep the bot from everybody in private."""
    house.agent.answer_all = "Yes, Ben."
    await house.served("Garden", [BEN])
    house.api.people.show_album([(PNG, "one"), (PNG, "two")], user=EVE)  # waits, as long as the clock stands
    house.api.say("hello", user=BEN)

    [said] = await house.until_said(BEN)

    assert (said["text"], house.api.texts(EVE)) == ("Yes, Ben.", [])
    async with house.bench.time_flies():
        await house.taken()
    assert house.api.texts(EVE) == [NOT_FOR_YOU]


async def test_who_has_left_is_refused(house: House) -> None:
    chat = await house.served("Garden", [BEN])
    house.api.groups.leave(chat, BEN)
    house.api.say("what do they say of me?", user=BEN)

    await house.until(lambda: house.api.texts(BEN) == [NOT_FOR_YOU])

    assert house.agent.deliveries == {}


async def test_the_owner_can_switch_private_chats_off_for_a_group(house: House) -> None:
    chat = await house.served("Garden", [BEN])
    await house.set(chat, GroupSettings(private_chats=False))
    house.api.say("between us", user=BEN)

    await house.until(lambda: house.api.texts(BEN) == [NOT_FOR_YOU])

    assert house.agent.deliveries == {}


async def test_who_is_in_several_groups_is_asked_once_which(house: House) -> None:
    await house.served("Garden", [BEN])
    await house.served("Cars", [BEN])
    house.api.say("is it fast?", user=BEN)
    [question] = await house.until_said(BEN)
    number = next(line[0] for line in question["text"].splitlines() if line.endswith("Cars"))

    house.api.say(number, user=BEN)
    await house.until_delivered("Cars", 1)
    house.api.say("is it red?", user=BEN)

    texts = [each.text for each in await house.until_delivered("Cars", 2)]
    assert ["is it fast?" in texts[0], "is it red?" in texts[1]] == [True, True]
    assert house.delivered("Garden") == []


async def test_a_voice_message_in_private_reaches_the_agent_as_one_that_it_cannot_hear(house: House) -> None:
    """Whoever writes in private gets an answer."""
    await house.served("Garden", [BEN])
    house.api.people.post({"voice": {"file_id": "v", "file_unique_id": "u", "duration": 1}}, user=BEN)

    [delivery] = await house.until_delivered("Garden", 1)

    assert "not to be seen here: Voice messages" in delivery.text


async def test_hidden_members_are_known_once_the_bot_administers_the_group(house: House) -> None:
    """Till then Telegram tells a bot of the administrators alone, who are answered."""
    chat = await house.served("Garden", [BEN, EVE])
    house.api.groups.hide_members(chat)
    house.api.groups.promote(chat, EVE)
    for who in (BEN, EVE):
        house.api.say("between us", user=who)
    await house.until_delivered("Garden", 1)
    await house.until(lambda: house.api.texts(BEN) == [NOT_FOR_YOU])

    house.api.groups.promote(chat, house.api.bot_id)
    house.api.say("and now?", user=BEN)

    assert [one.source for one in await house.until_delivered("Garden", 2)] == [
        f"telegram:{EVE}",
        f"telegram:{BEN}",
    ]


async def test_what_telegram_does_not_tell_now_is_waited_for_and_not_set_aside(house: House) -> None:
    """However long it cannot be reached: an hour of no network must lose nobody's message."""
    chat = await house.served("Garden", [BEN], creator=OWNER)
    house.api.fail("getChatMember", code=502, times=9)
    house.api.fail("getChatAdministrators", code=429, retry_after=30, times=9)
    house.api.say("between us", user=BEN)
    house.api.say("/bot status", chat=chat)

    async with house.bench.time_flies():
        await house.until_delivered("Garden", 1)
        [status] = await house.until_said(chat)

    assert status["text"].startswith("Agent: ")
    assert house.running.gateway.outbox.set_aside() == []


async def test_privacy_mode_is_told_in_status_and_health_with_what_to_do(quiet_house: House) -> None:
    house = quiet_house
    none_yet = dict(house.running.board.remarks())
    chat = await house.served("Garden", [BEN])
    house.api.say(f"/bot{BOT} status", chat=chat)

    [status] = await house.until_said(chat)

    assert none_yet == {}
    assert house.running.board.remarks() == {"groups": PRIVACY_MODE}
    assert status["text"].endswith(PRIVACY_MODE)
    assert "/setprivacy" in PRIVACY_MODE


async def test_once_privacy_mode_is_off_and_the_bot_was_added_again_there_is_nothing_to_tell(
    quiet_house: House,
) -> None:
    house = quiet_house
    chat = await house.served("Garden", [BEN])
    await house.taken()  # the first question has lost its buttons by then
    house.api.groups.remove_bot(chat)
    await house.until(lambda: not house.running.board.remarks())
    house.api.privacy = False

    house.api.groups.add_bot(chat)
    await house.asked_of("Garden")
    house.press("Garden", "✓ Yes, serve it")
    await house.until(lambda: house.state_of(chat) == "admitted")
    house.api.say(f"{BOT} roses?", user=BEN, chat=chat)
    await house.until_delivered("Garden", 1)

    assert house.running.board.remarks() == {}


async def test_what_waits_is_taken_though_telegram_does_not_say_again_who_the_bot_is(
    bench: Bench, agent: GroupsAgentServicer
) -> None:
    async with at_home(bench, agent) as house:
        chat = await house.served("Garden", [BEN])
        await house.taken()
    bench.api.say(f"/ask{BOT} roses?", user=BEN, chat=chat)
    bench.api.fail("getMe", code=502, times=100)
    [update], polls = bench.api.updates, bench.api.calls["getUpdates"]

    async with bench.running() as running:
        await running.store.write(
            lambda db: running.gateway.outbox.put(
                db, kind=KIND, key="8100200300:1:1:0", body=json.dumps(update).encode(), now=bench.clock.now()
            )
        )
        await agent.until(lambda: bool(agent.deliveries))
        remarks = dict(running.board.remarks())

    assert bench.api.calls["getUpdates"] == polls
    assert remarks == {"groups": PRIVACY_MODE}
