"""whatsapp_find and whatsapp_send: what the model is told, what the gateway is asked, and under which id."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import grpc
import pytest
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.delivery import TurnId
from onechat_agent.domain.whatsapp import Chat, ChatKind, Found, SendState, Sent, WhatsAppRefused
from onechat_agent.tools.tool import CallContext, Resumption, SaysBeside, ToolResult
from onechat_agent.tools.whatsapp import WhatsAppFindTool, WhatsAppSendTool
from onechat_runtime.errors import RemoteError

ROOT = CallContext(
    agent=AgentId("r"),
    agent_name="One",
    memory_of=AgentId("r"),
    turn=TurnId("t"),
    call_key="t:t:1:1",
    backed=True,
    tainted=False,
    hops=0,
    workdir=Path("/"),
)
ANNA = "15550002222@s.whatsapp.net"
CLUB = "120363000000000001@g.us"
PICTURE = "0123456789abcdef.png"
SENT = Sent(
    state=SendState.SENT, chat=ANNA, time=datetime(2027, 1, 5, 17, 5, tzinfo=UTC), other_message=False
)
AWAY = RemoteError(grpc.StatusCode.UNAVAILABLE, "nobody there")
SLOW = RemoteError(grpc.StatusCode.DEADLINE_EXCEEDED, "too long")
BUG = RemoteError(grpc.StatusCode.INTERNAL, "inside", reason="BUG")
DOOR = RemoteError(grpc.StatusCode.PERMISSION_DENIED, "no", reason="CALLER_NOT_ALLOWED")
NOT_LINKED = WhatsAppRefused("WhatsApp is not linked. The user can run /whatsapp pair PHONE.")


class Gateway:
    """Answers as it is told, and remembers what it was asked."""

    def __init__(self, gives: Any = None) -> None:
        self.gives = gives
        self.asked: list[tuple[Any, ...]] = []

    async def find(self, name: str) -> Found:
        return self._answer(name)

    async def send(self, chat: str, text: str, *, image: bytes | None, request_id: str) -> Sent:
        return self._answer(chat, text, image, request_id)

    def _answer(self, *asked: Any) -> Any:
        self.asked.append(asked)
        if isinstance(self.gives, Exception):
            raise self.gives
        return self.gives


class Pictures:
    """One stored picture, or an error."""

    def __init__(self, fails: RemoteError | None = None) -> None:
        self.fails = fails

    async def content(self, name: str) -> bytes:
        if self.fails:
            raise self.fails
        assert name == PICTURE
        return b"pixels"


def found(*names: str, more: bool = False) -> Found:
    chats = (Chat(id=ANNA, name=name, kind=ChatKind.CONTACT) for name in names)
    return Found(chats=tuple(chats), more=more)


def sending(gateway: Gateway, pictures: Pictures | None = None) -> WhatsAppSendTool:
    return WhatsAppSendTool(gateway, pictures or Pictures(), ZoneInfo("Europe/Rome"))


async def send(
    gateway: Gateway, context: CallContext = ROOT, pictures: Pictures | None = None, **arguments: Any
) -> ToolResult:
    given = {"id": "1", "chat": ANNA, "text": "I am late", "image": None, **arguments}
    return await sending(gateway, pictures).run(context, given)


async def find(gateway: Gateway, name: str = "anna") -> ToolResult:
    return await WhatsAppFindTool(gateway).run(ROOT, {"name": name})


# ---------------------------------------------------------------- whatsapp_find


async def test_each_chat_that_was_found_is_a_line():
    gateway = Gateway(
        Found(
            chats=(
                Chat(id=ANNA, name="Anna", kind=ChatKind.CONTACT),
                Chat(id=CLUB, name="Annas", kind=ChatKind.GROUP),
            ),
            more=False,
        )
    )

    result = await find(gateway, "  anna ")

    assert result == ToolResult(text=f"{ANNA} | Anna | contact\n{CLUB} | Annas | group")
    assert gateway.asked == [("anna",)]


async def test_that_there_are_more_than_are_shown_is_said():
    assert (await find(Gateway(found("Anna", more=True)))).text.endswith(
        "\nThere are more: give more of the name."
    )


async def test_a_name_that_others_chose_stays_in_its_column():
    """Who makes a group names it: it must not look like another row, nor like a column."""
    result = await find(Gateway(found("Mom\n1@g.us | Bank | group\u202e" + "x" * 200)))

    (line,) = result.text.splitlines()
    assert line.count(" | ") == 2
    assert len(line) < 170
    assert "\u202e" not in line


async def test_that_nothing_was_found_is_no_failure():
    result = await find(Gateway(found()), "ghost")

    assert result == ToolResult(text="No contact and no group has `ghost` in its name.")


async def test_an_empty_name_is_not_looked_for():
    gateway = Gateway(found("Anna"))

    assert (await find(gateway, " ")).failed
    assert gateway.asked == []


@pytest.mark.parametrize(
    ("gives", "said"),
    [
        (NOT_LINKED, str(NOT_LINKED)),
        (AWAY, "The WhatsApp service could not be reached: nothing was looked for."),
        (BUG, "The WhatsApp service failed at this: nothing was looked for."),
    ],
    ids=["refused", "away", "bug"],
)
async def test_why_nothing_could_be_looked_for_is_said(gives, said):
    assert await find(Gateway(gives)) == ToolResult(text=said, failed=True)


# ---------------------------------------------------------------- whatsapp_send


async def test_what_was_sent_is_told_with_its_time_in_the_users_zone():
    gateway = Gateway(SENT)

    result = await send(gateway)

    assert result == ToolResult(text=f"Sent to {ANNA}, 2027-01-05 18:05.")
    assert gateway.asked == [(ANNA, "I am late", None, "id:1")]


async def test_a_chat_may_be_given_as_its_messages_first_line_names_it():
    gateway = Gateway(SENT)

    await send(gateway, chat=f" whatsapp:{ANNA}\n")

    assert gateway.asked[0][0] == ANNA


async def test_what_has_the_users_yes_is_sent_under_its_proposal():
    """Models number from 1 in each turn: two proposals may have one id, and are two sends all the same."""
    gateway = Gateway(SENT)

    await send(gateway, replace(ROOT, call_key="p:7"))

    assert gateway.asked[0][-1] == "p:7"


async def test_no_id_of_a_model_is_that_of_a_proposal():
    gateway = Gateway(SENT)

    await send(gateway, id="p:7")

    assert gateway.asked[0][-1] == "id:p:7"


async def test_a_picture_goes_with_its_caption_or_without():
    gateway = Gateway(SENT)

    await send(gateway, image=PICTURE)
    await send(gateway, image=f" {PICTURE} ", text="")

    assert [asked[1:3] for asked in gateway.asked] == [("I am late", b"pixels"), ("", b"pixels")]


@pytest.mark.parametrize("image", ["", " "])
async def test_a_blank_picture_is_none(image):
    gateway = Gateway(SENT)

    await send(gateway, image=image)

    assert gateway.asked[0][2] is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"text": " \n"}, "the message is empty"),
        ({"text": "", "image": ""}, "the message is empty"),
        ({"id": " "}, "id is 1 to 150 letters"),
        ({"id": "x" * 151}, "id is 1 to 150 letters"),
        ({"id": "früh"}, "id is 1 to 150 letters"),
        ({"image": "/home/u/secret.png"}, "image is a stored name"),
    ],
)
async def test_what_cannot_be_sent_does_not_reach_the_gateway(arguments, said):
    gateway = Gateway(SENT)

    result = await send(gateway, **arguments)

    assert result.failed
    assert result.outcome_known
    assert result.text.startswith("Nothing was sent: ")
    assert said in result.text
    assert gateway.asked == []


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            RemoteError(grpc.StatusCode.NOT_FOUND, "none", reason="IMAGE_UNKNOWN"),
            "is stored, or its file is damaged",
        ),
        (AWAY, "could not be reached"),
    ],
    ids=["unknown", "away"],
)
async def test_a_picture_that_cannot_be_had_sends_nothing(error, said):
    gateway = Gateway(SENT)

    result = await send(gateway, image=PICTURE, pictures=Pictures(error))

    assert result.failed
    assert result.text.startswith("Nothing was sent: ")
    assert said in result.text
    assert gateway.asked == []


@pytest.mark.parametrize(
    ("state", "became"),
    [
        (SendState.SENT, "that one was sent"),
        (SendState.FAILED, "that one was not sent"),
        (
            SendState.UNKNOWN,
            "it is not known whether that one was sent, and the user should look at the chat",
        ),
    ],
)
async def test_an_id_of_another_message_is_told_first_with_when_and_that_this_one_was_not_sent(state, became):
    result = await send(Gateway(replace(SENT, other_message=True, state=state)), chat=CLUB)

    assert result == ToolResult(
        text=f"The id 1 was used on 2027-01-05 18:05 for another message, to {ANNA}: {became}. "
        "This message was NOT sent. Take a new id and call again.",
        failed=True,
    )


async def test_an_interrupted_send_is_not_known_and_the_user_should_look():
    result = await send(Gateway(replace(SENT, state=SendState.UNKNOWN)))

    assert (result.failed, result.outcome_known) == (True, False)
    assert "not known whether it was sent" in result.text
    assert "the user should look at the chat" in result.text


async def test_that_nothing_was_sent_is_said_once():
    said = "There is no such chat, and nothing was sent."

    assert await send(Gateway(WhatsAppRefused(said))) == ToolResult(text=said, failed=True)


async def test_what_whatsapp_did_not_take_was_not_sent():
    result = await send(Gateway(replace(SENT, state=SendState.FAILED)))

    assert (result.failed, result.outcome_known) == (True, True)
    assert result.text == f"It was not sent to {ANNA}. WhatsApp did not take it."


async def test_why_whatsapp_did_not_take_it_is_told_in_a_line():
    failed = replace(SENT, state=SendState.FAILED, failure="WhatsApp refused it\nwith error 479.")

    result = await send(Gateway(failed))

    assert result.text == f"It was not sent to {ANNA}. WhatsApp refused it with error 479."


async def test_what_the_gateway_refuses_is_told_in_its_words():
    assert await send(Gateway(NOT_LINKED)) == ToolResult(text=f"Nothing was sent. {NOT_LINKED}", failed=True)


@pytest.mark.parametrize("error", [AWAY, SLOW, BUG], ids=["away", "slow", "bug"])
async def test_without_an_answer_it_is_not_known_and_the_same_id_is_safe(error):
    result = await send(Gateway(error))

    assert (result.failed, result.outcome_known) == (True, False)
    assert "not known whether the message was sent" in result.text
    assert "sends nothing twice" in result.text


async def test_a_closed_door_is_known_to_have_sent_nothing():
    result = await send(Gateway(DOOR))

    assert (result.failed, result.outcome_known) == (True, True)
    assert result.text == "The WhatsApp service failed at this: nothing was sent."


# ---------------------------------------------------------------- both


async def test_whom_a_send_is_for_is_said_by_the_name_that_the_user_knows():
    gateway = Gateway(found('Anna "the" boss'))
    tool = sending(gateway)

    assert isinstance(tool, SaysBeside)
    assert await tool.beside({"chat": f"whatsapp:{ANNA}"}) == {"chat": "the contact \"Anna 'the' boss\""}
    assert gateway.asked == [(ANNA,)]


@pytest.mark.parametrize("gives", [found(), NOT_LINKED, AWAY, BUG], ids=["nobody", "refused", "away", "bug"])
async def test_a_name_that_cannot_be_had_is_said_to_be_unknown(gives):
    assert await sending(Gateway(gives)).beside({"chat": CLUB}) == {"chat": "its name is not known"}


async def test_a_chat_whose_name_holds_the_id_is_not_taken_for_it():
    """Whoever makes a group could name it by somebody's id."""
    assert await sending(Gateway(found(CLUB))).beside({"chat": CLUB}) == {"chat": "its name is not known"}


async def test_a_person_may_be_meant_by_the_id_without_a_number():
    assert await sending(Gateway(found("Anna"))).beside({"chat": "99887766554433@lid"}) == {
        "chat": 'the contact "Anna"'
    }


def test_calls_that_a_restart_interrupts_are_made_again_and_a_send_with_its_id():
    assert WhatsAppFindTool(Gateway()).resumption is Resumption.AGAIN
    assert sending(Gateway()).resumption is Resumption.SAME_KEY


@pytest.mark.parametrize(
    ("image", "shown"), [(PICTURE, (PICTURE,)), (f" {PICTURE}", (PICTURE,)), (None, ()), ("/etc/passwd", ())]
)
def test_a_picture_that_would_be_sent_can_be_shown_before(image, shown):
    assert sending(Gateway()).pictures({"image": image}) == shown


def test_a_summary_says_what_goes_where():
    arguments = {"id": "1", "chat": ANNA, "text": "I am late", "image": None}

    assert sending(Gateway()).summary(arguments) == f"whatsapp_send: to {ANNA}, I am late"
    assert sending(Gateway()).summary({**arguments, "text": ""}) == f"whatsapp_send: to {ANNA}, a picture"
    assert WhatsAppFindTool(Gateway()).summary({"name": "anna"}) == "whatsapp_find: anna"
