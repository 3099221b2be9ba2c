"""The root writes on WhatsApp: at once where the user alone has spoken, else after a yes; never twice."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from onechat.agent.v1 import event_pb2
from onechat.whatsapp.v1 import whatsapp_service_pb2 as v1

from tests.fakes.agent_house import TIMEOUT_S, House, living
from tests.fakes.agent_talk import make_child, says
from tests.fakes.loopback import Loopback
from tests.fakes.memory_server import MemoryServer
from tests.fakes.pictures import picture
from tests.fakes.proposal_talk import BATCH, answer_soon, command, proposed, until_state
from tests.fakes.scripted_model import Answer, ScriptedModel, call
from tests.fakes.whatsapp_servicer import NO_GROUPS, Message, WhatsAppServicer, whatsapp_serving

ANNA, LID = "15550002222@s.whatsapp.net", "111222333444@lid"
CLUB = "120363000000000001@g.us"
DONE, UNKNOWN = event_pb2.PROPOSAL_STATE_DONE, event_pb2.PROPOSAL_STATE_UNKNOWN


@pytest.fixture
def gateway() -> WhatsAppServicer:
    """One contact and one group."""
    servicer = WhatsAppServicer()
    servicer.add(ANNA, "Anna")
    servicer.add(CLUB, "Garden club")
    return servicer


@pytest.fixture
async def there(gateway: WhatsAppServicer) -> AsyncIterator[Loopback]:
    async with whatsapp_serving(gateway) as loopback:
        yield loopback


def a_send(words: str = "I am late", *, chat: str = ANNA, own_id: str = "1", image: str | None = None) -> Any:
    return call("whatsapp_send", id=own_id, chat=chat, text=words, image=image)


async def echoes(house: House) -> list[str]:
    return [line for line in await house.lines() if line.startswith("echo: ")]


async def test_what_the_user_asks_for_is_found_and_sent(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, gateway: WhatsAppServicer, there: Loopback
) -> None:
    async with living(tmp_path, memory, model, whatsapp=there) as house:
        says(house, "", call("whatsapp_find", name="ánna"), a_send(), "It is out.")

        await house.say("tell Anna that I am late")

        found, sent = await echoes(house)
        assert found == f"echo: {ANNA} | Anna | contact"
        assert sent.startswith(f"echo: Sent to {ANNA}, ")
        assert gateway.left == [Message(chat=ANNA, text="I am late")]
        assert house.seen.replies() == ["It is out."]


async def test_a_stored_picture_arrives_as_it_is_stored(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, gateway: WhatsAppServicer, there: Loopback
) -> None:
    content = picture(150_000)
    async with living(tmp_path, memory, model, whatsapp=there) as house:
        name = (await memory.put_image(content)).name
        says(house, "", a_send("", image=name), a_send("", own_id="2", image="f" * 16 + ".png"), "done")

        await house.say("send Anna the picture")

        assert gateway.left == [Message(chat=ANNA, text="", image=content)], "in several pieces"
        assert "is stored, or its file is damaged" in (await echoes(house))[1]


async def test_an_id_that_was_used_in_an_earlier_turn_sends_nothing(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, gateway: WhatsAppServicer, there: Loopback
) -> None:
    """Models number from 1 in each turn."""
    async with living(tmp_path, memory, model, whatsapp=there) as house:
        says(house, "", a_send("one"), "done")
        says(house, "", a_send("one"), a_send("two"), a_send("two", own_id="2"), "done again")
        await house.say("send one")
        await house.say("send one and two")

        first, same, other, _ = await echoes(house)
        assert same == first
        assert "This message was NOT sent. Take a new id" in other
        assert [message.text for message in gateway.left] == ["one", "two"]


async def test_a_message_to_a_chat_by_each_of_its_ids_is_one_message(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, gateway: WhatsAppServicer, there: Loopback
) -> None:
    """The root may remember the LID that it was shown before the number was known."""
    gateway.lids[LID] = ANNA
    async with living(tmp_path, memory, model, whatsapp=there) as house:
        says(house, "", a_send(chat=LID), a_send(), a_send(chat=f"whatsapp:{LID}"), "It is out.")
        await house.say("tell Anna that I am late")

        first, *again = await echoes(house)
        assert first.startswith(f"echo: Sent to {LID}, ")
        assert again == [first] * 2
        assert gateway.left == [Message(chat=ANNA, text="I am late")]


async def test_a_proposal_by_the_lid_names_the_person_and_is_sent_once_the_number_is_known(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, gateway: WhatsAppServicer, there: Loopback
) -> None:
    gateway.add(LID, "Anna")
    async with living(tmp_path, memory, model, whatsapp=there) as house:
        await proposed(house, model, a_send(chat=LID))
        (event,) = house.seen.events("proposal")
        gateway.lids[LID] = ANNA
        model.say("It is out.")
        await command(house, "/yes 1")
        said = await command(house, "/yes 1")

        assert f'chat: "{LID}" (the contact "Anna")' in event.proposal.proposal.text.splitlines()
        assert f"Sent to {LID}" in said
        assert gateway.left == [Message(chat=ANNA, text="I am late")]


async def test_why_a_send_failed_is_told(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, gateway: WhatsAppServicer, there: Loopback
) -> None:
    gateway.outcome = v1.SEND_STATE_FAILED
    async with living(tmp_path, memory, model, whatsapp=there) as house:
        says(house, "", a_send(), "It did not go.")
        await house.say("tell Anna that I am late")

        assert await echoes(house) == [f"echo: It was not sent to {ANNA}. {gateway.failure}"]


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_send_that_a_restart_interrupts_is_made_again_under_its_id_and_leaves_once(
    tmp_path: Path,
    memory: MemoryServer,
    model: ScriptedModel,
    gateway: WhatsAppServicer,
    there: Loopback,
    when: str,
) -> None:
    hold = gateway.hold(when)
    async with living(tmp_path, memory, model, whatsapp=there) as house:
        says(house, "", a_send(), "It is out.")
        await house.deliver("tell Anna that I am late")
        async with asyncio.timeout(TIMEOUT_S):
            await hold.reached.wait()
    hold.released.set()

    async with living(tmp_path, memory, model, whatsapp=there, after=0) as house:
        await house.seen.until(lambda seen: "It is out." in seen.replies())

        assert gateway.left == [Message(chat=ANNA, text="I am late")]


async def test_what_others_ask_for_is_proposed_with_the_chats_name_and_sent_once_after_a_yes(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, gateway: WhatsAppServicer, there: Loopback
) -> None:
    async with living(tmp_path, memory, model, whatsapp=there) as house:
        await proposed(house, model, a_send(chat=CLUB))
        (event,) = house.seen.events("proposal")
        text = event.proposal.proposal.text.splitlines()
        whole = await command(house, "/proposals 1")
        assert gateway.left == []
        model.say("It is out.")

        said = await command(house, "/yes 1")
        await command(house, "/yes 1")
        await house.seen.until(lambda seen: "It is out." in seen.replies())

        assert f'chat: "{CLUB}" (the group "Garden club")' in text
        assert f'chat: "{CLUB}" (the group "Garden club")' in whole.splitlines()
        assert said.splitlines()[1].startswith(f"| Sent to {CLUB}, ")
        assert gateway.left == [Message(chat=CLUB, text="I am late")]
        assert gateway.sent_by("p:1") == gateway.left[0]


async def test_a_picture_is_shown_before_the_proposal_to_send_it(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, there: Loopback
) -> None:
    """Its stored name says nothing to who is to say yes."""
    async with living(tmp_path, memory, model, whatsapp=there) as house:
        name = (await memory.put_image(picture(1_000))).name
        await proposed(house, model, a_send("look", image=name))

        (shown,), (asked,) = house.seen.events("image"), house.seen.events("proposal")
        assert shown.image.image == name
        assert shown.image.caption == "The picture that proposal 1 is about."
        assert shown.number < asked.number


async def test_two_proposals_with_one_id_are_two_messages(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, gateway: WhatsAppServicer, there: Loopback
) -> None:
    async with living(tmp_path, memory, model, whatsapp=there) as house:
        await proposed(house, model, a_send("one"))
        await proposed(house, model, a_send("two"))
        model.say("", "")
        await command(house, "/yes 1")
        await command(house, "/yes 2")

        assert [message.text for message in gateway.left] == ["one", "two"]


async def test_without_the_gateway_a_send_is_proposed_all_the_same(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await proposed(house, model, a_send())

        (event,) = house.seen.events("proposal")
        assert f'chat: "{ANNA}" (its name is not known)' in event.proposal.proposal.text.splitlines()


async def test_an_approved_send_that_a_restart_interrupts_leaves_once(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, gateway: WhatsAppServicer, there: Loopback
) -> None:
    hold = gateway.hold("after")
    async with living(tmp_path, memory, model, whatsapp=there) as house:
        await proposed(house, model, a_send())
        answer_soon(house)
        async with asyncio.timeout(TIMEOUT_S):
            await hold.reached.wait()
    hold.released.set()
    model.say("It is out.")

    async with living(tmp_path, memory, model, whatsapp=there, after=0) as house:
        await until_state(house, DONE)

        assert gateway.left == [Message(chat=ANNA, text="I am late")]


async def test_an_approved_send_whose_outcome_the_gateway_does_not_know_is_told_so(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, gateway: WhatsAppServicer, there: Loopback
) -> None:
    gateway.outcome = v1.SEND_STATE_UNKNOWN
    async with living(tmp_path, memory, model, whatsapp=there) as house:
        await proposed(house, model, a_send())
        model.say("noted")

        said = await command(house, "/yes 1")

        await until_state(house, UNKNOWN)
        assert "the user should look at the chat" in said


async def test_every_send_is_asked_for_where_the_user_wants_that(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, gateway: WhatsAppServicer, there: Loopback
) -> None:
    always = {"confirm": "always"}
    async with living(tmp_path, memory, model, whatsapp=there, settings=always) as house:
        says(house, "", call("whatsapp_find", name="anna"), a_send(), "I have asked.")
        await house.say("tell Anna that I am late")

        assert len(house.seen.events("proposal")) == 1
        assert gateway.left == []


async def test_a_search_without_groups_says_so_beside_the_people(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, gateway: WhatsAppServicer, there: Loopback
) -> None:
    gateway.link = v1.LINK_STATE_DISCONNECTED
    async with living(tmp_path, memory, model, whatsapp=there) as house:
        anna, club = call("whatsapp_find", name="anna"), call("whatsapp_find", name="club")
        says(house, "", anna, club, "Only Anna.")
        await house.say("find Anna and the club")

        assert await echoes(house) == [
            f"echo: {ANNA} | Anna | contact\n{NO_GROUPS}",
            f"echo: No contact has `club` in its name. {NO_GROUPS}",
        ]


async def test_a_link_that_is_not_there_is_told_in_the_gateways_words(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, gateway: WhatsAppServicer, there: Loopback
) -> None:
    gateway.link = v1.LINK_STATE_NOT_LINKED
    async with living(tmp_path, memory, model, whatsapp=there) as house:
        says(house, "", call("whatsapp_find", name="anna"), a_send(), "I cannot.")
        await house.say("tell Anna that I am late")

        assert all("/whatsapp pair PHONE" in echo for echo in await echoes(house))


async def test_only_the_root_has_these_tools(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, gateway: WhatsAppServicer, there: Loopback
) -> None:
    async with living(tmp_path, memory, model, whatsapp=there) as house:
        await make_child(house, "House")
        says(house, "", call("tell", name="House", message="write to Anna"), "told")
        says(house, "House", a_send(), "I drafted it.")
        says(house, "", Answer(text=""))
        await house.say("have House write to Anna")
        await house.logged("work: [House] I drafted it.")

        assert "There is no tool whatsapp_send" in "\n".join(await house.lines("House"))
        assert gateway.calls == {}


async def test_a_batch_may_ask_for_a_search_but_for_no_send(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel, gateway: WhatsAppServicer, there: Loopback
) -> None:
    async with living(tmp_path, memory, model, whatsapp=there) as house:
        says(house, "", call("whatsapp_find", name="club"), a_send("forward it", chat=CLUB), "I have asked.")
        await house.ended(await house.deliver("forward it to the club", **BATCH))

        found, held = await echoes(house)
        assert "Garden club" in found
        assert "was not run" in held
        assert gateway.left == []
