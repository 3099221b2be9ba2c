"""getUpdates as the Bot API's documentation and its public server have it."""

import asyncio

from tests.fakes.bot_api import OWNER, TOKEN


def ids(answer):
    return [update["update_id"] for update in answer.result]


async def test_an_update_is_given_again_until_a_higher_offset_confirms_it(api, call):
    api.say("one")
    api.say("two")
    first, second = ids(await call("getUpdates"))

    again = ids(await call("getUpdates", offset=first))
    confirmed = ids(await call("getUpdates", offset=second))
    without = ids(await call("getUpdates"))

    assert again == [first, second]
    assert confirmed == without == [second]


async def test_an_offset_far_past_the_newest_is_of_another_numbering(api, call):
    """Ids restart anywhere after a quiet week; an old, higher offset must not lose what has come since."""
    api.say("kept")
    [newest] = ids(await call("getUpdates"))

    far = ids(await call("getUpdates", offset=newest + 11))
    near = ids(await call("getUpdates", offset=newest + 10))

    assert far == [newest]
    assert near == []


async def test_a_negative_offset_keeps_that_many_of_the_newest_and_forgets_the_rest(api, call):
    for text in ("one", "two", "three"):
        api.say(text)

    kept = ids(await call("getUpdates", offset=-1))

    assert kept == ids(await call("getUpdates"))
    assert len(kept) == 1


async def test_a_poll_gives_a_hundred_at_most_and_as_few_as_it_asks_for(api, call):
    for number in range(120):
        api.say(str(number))

    assert len(ids(await call("getUpdates", limit=500))) == 100
    assert len(ids(await call("getUpdates", limit=3))) == 3
    assert len(ids(await call("getUpdates", limit=0))) == 1


async def test_a_long_poll_ends_with_the_first_update(api, call):
    poll = asyncio.ensure_future(call("getUpdates", timeout=50))
    await api.until(lambda: api.calls["getUpdates"] == 1)

    api.say("at last")

    [update] = (await poll).result
    assert update["message"]["text"] == "at last"


async def test_a_second_poller_ends_the_first_with_409(api, call):
    first = asyncio.ensure_future(call("getUpdates", timeout=50))
    await api.until(lambda: api.calls["getUpdates"] == 1)

    second = await call("getUpdates")

    code, description = (await first).refusal
    assert (code, second.result) == (409, [])
    assert description.startswith("Conflict: terminated by other getUpdates request")


async def test_a_webhook_refuses_polls_until_it_is_deleted_and_updates_wait(api, call):
    await call("setWebhook", url="https://a.example/hook")
    api.say("waits")

    refused = await call("getUpdates")
    await call("deleteWebhook")

    assert refused.refusal[0] == 409
    assert len(ids(await call("getUpdates"))) == 1


async def test_pending_updates_are_dropped_only_when_that_is_asked_for(api, call):
    api.say("old")
    await call("deleteWebhook", drop_pending_updates=False)
    kept = ids(await call("getUpdates"))

    await call("deleteWebhook", drop_pending_updates=True)

    assert len(kept) == 1
    assert ids(await call("getUpdates")) == []


async def test_kinds_that_are_not_asked_for_do_not_come_and_the_choice_stays(api, call):
    await call("getUpdates", allowed_updates=["edited_message"])
    message = api.say("not asked for")
    api.edit(message, "asked for")

    [update] = (await call("getUpdates")).result

    assert "edited_message" in update


async def test_a_choice_of_kinds_is_for_updates_made_after_it(api, call):
    api.say("made before")

    found = ids(await call("getUpdates", allowed_updates=["callback_query"]))

    assert len(found) == 1


async def test_changes_of_other_members_come_only_when_they_are_asked_for(api, call):
    chat = api.groups.found("Crew", [7])
    api.groups.promote(chat, api.bot_id)
    api.updates.clear()

    api.groups.promote(chat, 7)
    await call("getUpdates", allowed_updates=["chat_member"])
    api.groups.demote(chat, 7)

    [update] = (await call("getUpdates")).result
    assert update["chat_member"]["new_chat_member"]["status"] == "member"


async def test_an_update_shows_a_message_as_it_was_then(api, call):
    message = api.say("first")
    api.edit(message, "second", edit_date=1_790_000_060)

    first, second = (await call("getUpdates")).result

    assert first["message"]["text"] == "first"
    assert second["edited_message"]["text"] == "second"
    assert second["edited_message"]["date"] == first["message"]["date"]


async def test_a_wrong_token_is_401_and_an_unknown_method_404(call):
    unauthorised = await call("getMe", token="1:other")
    unknown = await call("getTea")

    assert unauthorised.refusal == (401, "Unauthorized")
    assert unknown.refusal[0] == 404


async def test_methods_take_queries_forms_and_json_and_names_in_any_case(api, call):
    address = f"{api.address}/bot{TOKEN}"
    say = {"chat_id": str(OWNER), "text": "hi"}

    async with call.session.get(f"{address}/sendmessage", params=say) as by_query:
        pass
    async with call.session.post(f"{address}/SENDMESSAGE", data=say) as by_form:
        pass
    by_json = await call("sendMessage", chat_id=OWNER, text="hi")

    assert (by_query.status, by_form.status, by_json.status) == (200, 200, 200)
    assert api.texts() == ["hi"] * 3


async def test_an_ordered_refusal_tells_how_long_to_wait_and_is_used_up(api, call):
    api.fail("sendMessage", code=429, retry_after=30)

    refused = await call("sendMessage", chat_id=OWNER, text="hi")
    again = await call("sendMessage", chat_id=OWNER, text="hi")

    assert refused.refusal == (429, "Too Many Requests: retry after 30")
    assert refused.body["parameters"] == {"retry_after": 30}
    assert again.status == 200


async def test_a_trouble_of_one_chat_leaves_others_alone(api, call):
    api.chats.add(8)
    api.fail("sendMessage", code=500, chat=8, times=None)

    there = await call("sendMessage", chat_id=8, text="hi")
    here = await call("sendMessage", chat_id=OWNER, text="hi")

    assert (there.status, here.status) == (500, 200)
