"""The control endpoint of the stand-in as a process: it acts as people do, and shows what came of it."""

from base64 import b64encode

import pytest

from tests.fakes.bot_api import OWNER, BotApi, listening
from tests.fakes.bot_api_process import controlled
from tests.fakes.bot_api_readers import Caller
from tests.fakes.pictures import PNG


@pytest.fixture
async def api():
    """The server with its control endpoint."""
    api = BotApi()
    async with listening(api, controlled(api)):
        yield api


@pytest.fixture
def act(api: BotApi, call: Caller):
    """POST /control/ACT; status and answer."""

    async def posted(what, **fields):
        async with call.session.post(f"{api.address}/control/{what}", json=fields) as response:
            return response.status, await response.json()

    return posted


async def test_a_message_an_edit_and_any_update_come_to_the_bot(api, act, call):
    _, said = await act("say", text="helo")
    await act("edit", message_id=said["message_id"], text="hello")
    _, made = await act("update", poll={"id": "1"})

    updates = (await call("getUpdates")).result
    assert [next(name for name in update if name != "update_id") for update in updates] == [
        "message",
        "edited_message",
        "poll",
    ]
    assert made == {"update_id": updates[-1]["update_id"]}


async def test_a_photo_and_a_file_come_as_base64(api, act, call):
    content = b64encode(PNG).decode()

    await act("photo", data=content, caption="look")
    await act("file", data=content, name="dot.png", mime="image/png")

    photo, file = [update["message"] for update in (await call("getUpdates")).result]
    assert photo["caption"] == "look"
    assert file["document"]["file_name"] == "dot.png"


async def test_groups_are_founded_and_changed(api, act, call):
    _, founded = await act("found", title="Crew", members=[7], kind="group")
    _, moved = await act("migrate", chat=founded["result"])

    chat = (await call("getChat", chat_id=moved["result"])).result
    assert (chat["title"], chat["type"]) == ("Crew", "supergroup")


async def test_troubles_are_ordered_and_ended(api, act, call):
    api.chats.add(OWNER)
    await act("fail", method="sendMessage", code=502, times=None)
    failed = await call("sendMessage", chat_id=OWNER, text="hi")

    await act("heal")

    assert failed.refusal[0] == 502
    assert (await call("sendMessage", chat_id=OWNER, text="hi")).status == 200


async def test_the_state_shows_what_was_sent_changed_and_asked(api, act, call):
    await act("say", text="hi")
    keyboard = {"inline_keyboard": [[{"text": "Yes", "callback_data": "y"}]]}
    sent = (await call("sendMessage", chat_id=OWNER, text="?", reply_markup=keyboard)).result
    _, pressed = await act("press", message_id=sent["message_id"], button="Yes")
    await call("answerCallbackQuery", callback_query_id=pressed["query"], text="Noted")
    await call("editMessageText", chat_id=OWNER, message_id=sent["message_id"], text="Done.")

    async with call.session.get(f"{api.address}/control/state") as response:
        state = await response.json()

    assert [message["text"] for message in state["sent"]] == ["Done."]
    assert [message["text"] for message in state["edits"]] == ["Done."]
    assert state["answers"] == {pressed["query"]: {"text": "Noted", "show_alert": False}}
    assert state["calls"]["editMessageText"] == 1
    assert len(state["waiting"]) == 2


async def test_an_unknown_act_is_404_and_a_wrong_one_says_what_is_wrong(act):
    unknown, _ = await act("sing")
    wrong, said = await act("press", message_id=1, button="Yes")

    assert (unknown, wrong) == (404, 400)
    assert said["wrong"]
