"""What the agent service counts on of the gateway to WhatsApp: the real one and its double pass this.

The real one speaks to an account that is played. A double that keeps less would let tests pass that fail with
the service.
"""

import hashlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from onechat.common.v1.chunk_pb2 import Chunk
from onechat.whatsapp.v1 import whatsapp_service_pb2 as v1
from onechat.whatsapp.v1 import whatsapp_service_pb2_grpc
from onechat_runtime.errors import RemoteError
from onechat_whatsapp.wire.ports import NotSent

from tests.fakes.loopback import serving
from tests.fakes.pictures import PNG
from tests.fakes.whatsapp_desk import desk_at
from tests.fakes.whatsapp_scripts import BOB, BOB_LID, CARS, CAT, GARDEN
from tests.fakes.whatsapp_servicer import WhatsAppServicer, whatsapp_serving

CALL_S = 20.0
NOBODY = "15550009999@s.whatsapp.net"


@dataclass(kw_only=True)
class Account:
    """A gateway that is linked and connected, with Bob, Cátia and two groups."""

    stub: Any
    left: Callable[[], list[tuple[str, str, bytes]]]  #: (chat, text, image) of what left, oldest first
    drop: Callable[[], None]  #: the connection is lost
    end: Callable[[], None]  #: the phone ends the link
    refuse: Callable[[], None]  #: WhatsApp refuses the next send


def of_double(double: WhatsAppServicer, stub: Any) -> Account:
    return Account(
        stub=stub,
        left=lambda: [(one.chat, one.text, one.image) for one in double.left],
        drop=lambda: setattr(double, "link", v1.LINK_STATE_DISCONNECTED),
        end=lambda: setattr(double, "link", v1.LINK_STATE_NOT_LINKED),
        refuse=lambda: setattr(double, "outcome", v1.SEND_STATE_FAILED),
    )


@pytest.fixture(params=["service", "double"])
async def account(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Account]:
    async with AsyncExitStack() as stack:
        if request.param == "double":
            double = WhatsAppServicer(lids={BOB_LID: BOB})
            named = {BOB: "Bob Builder", CAT: "Cátia Gomes", GARDEN: "Garden", CARS: "Cars & Bob's"}
            for chat, name in named.items():
                double.add(chat, name)
            loopback = await stack.enter_async_context(whatsapp_serving(double))
            stub = whatsapp_service_pb2_grpc.WhatsAppServiceStub(loopback.channel("agent"))
            yield of_double(double, stub)
            return
        desk = await stack.enter_async_context(desk_at(tmp_path))
        loopback = await stack.enter_async_context(serving(desk.served()))
        yield Account(
            stub=whatsapp_service_pb2_grpc.WhatsAppServiceStub(loopback.channel("agent")),
            left=lambda: [(one.chat, one.text, one.image or b"") for one in desk.account.sent],
            drop=desk.account.drop,
            end=desk.account.log_out,
            refuse=lambda: desk.account.send_faults.append(NotSent(f"no LID found for {BOB} from server")),
        )


def parts(
    text: str = "hello",
    *,
    own_id: str = "1",
    chat: str = BOB,
    image: bytes | None = None,
    digest: bytes = b"",
) -> Iterator[v1.SendMessageRequest]:
    yield v1.SendMessageRequest(header=v1.SendHeader(request_id=own_id, chat_id=chat, text=text))
    if image is not None:
        for start in range(0, len(image), 65_536):
            yield v1.SendMessageRequest(chunk=Chunk(content=image[start : start + 65_536]))
        yield v1.SendMessageRequest(chunk=Chunk(sha256=digest or hashlib.sha256(image).digest()))


async def send(account: Account, text: str = "hello", **fields: Any) -> v1.SendMessageResponse:
    answer: v1.SendMessageResponse = await account.stub.SendMessage(parts(text, **fields), timeout=CALL_S)
    return answer


async def find(account: Account, name: str) -> list[tuple[str, str, int]]:
    answer = await account.stub.FindChats(v1.FindChatsRequest(name=name), timeout=CALL_S)
    return [(chat.chat_id, chat.name, chat.kind) for chat in answer.chats]


async def test_without_a_connection_people_are_found_and_groups_are_said_to_be_missing(
    account: Account,
) -> None:
    account.drop()

    answer = await account.stub.FindChats(v1.FindChatsRequest(name="bob"), timeout=CALL_S)

    assert [chat.chat_id for chat in answer.chats] == [BOB]
    assert answer.groups_missing.endswith(".")


async def refusal(call: Any) -> str:
    with pytest.raises(RemoteError) as refused:
        await call
    assert refused.value.message, "a refusal says what is wrong"
    return refused.value.reason


async def test_chats_are_found_by_a_part_of_their_name_whatever_its_case_and_accents(
    account: Account,
) -> None:
    assert await find(account, "CATIA") == [(CAT, "Cátia Gomes", v1.CHAT_KIND_CONTACT)]
    assert {chat for chat, _, _ in await find(account, "bob")} == {BOB, CARS}
    assert await find(account, "zebra") == []


@pytest.mark.parametrize(("chat", "name"), [(BOB, "Bob Builder"), (GARDEN, "Garden")])
async def test_a_whole_id_finds_its_chat_and_no_other(account: Account, chat: str, name: str) -> None:
    assert [(found, called) for found, called, _ in await find(account, chat)] == [(chat, name)]
    assert await find(account, NOBODY) == []


async def test_a_message_leaves_once_for_its_id_and_is_answered_alike(account: Account) -> None:
    first = await send(account)
    again = await send(account)

    assert first == again
    assert (first.send.state, first.send.chat_id, first.other_message) == (v1.SEND_STATE_SENT, BOB, False)
    assert first.send.HasField("time")
    assert not first.send.failure
    assert account.left() == [(BOB, "hello", b"")]


@pytest.mark.parametrize("other", [{"text": "other"}, {"chat": CAT}, {"image": PNG}], ids=str)
async def test_another_message_under_a_used_id_is_not_sent_and_gets_the_first_answer(
    account: Account, other: dict[str, Any]
) -> None:
    first = await send(account)

    answer = await send(account, **{"text": "hello", **other})

    assert (answer.send, answer.other_message) == (first.send, True)
    assert len(account.left()) == 1


@pytest.mark.parametrize("ids", [(BOB_LID, BOB), (BOB, BOB_LID)], ids=["lid first", "number first"])
async def test_a_chat_by_its_lid_and_by_its_number_is_the_same(
    account: Account, ids: tuple[str, str]
) -> None:
    """An agent may still have the LID that it was shown before the number was known."""
    first, again = [await send(account, chat=chat) for chat in ids]

    assert again == first
    assert (first.send.chat_id, first.other_message) == (ids[0], False)
    assert account.left() == [(BOB, "hello", b"")]
    assert [chat for chat, _, _ in await find(account, BOB_LID)] == [BOB]


async def test_why_a_send_failed_is_said_and_kept_and_holds_nobodys_number(account: Account) -> None:
    account.refuse()

    failed = (await send(account)).send
    again = (await send(account)).send

    assert (failed.state, again) == (v1.SEND_STATE_FAILED, failed)
    assert failed.failure.endswith(".")
    assert BOB.partition("@")[0] not in failed.failure
    assert account.left() == []


async def test_an_image_arrives_whole_with_its_caption_and_without(account: Account) -> None:
    image = PNG + bytes(range(256)) * 600

    await send(account, "look", image=image)
    await send(account, "", own_id="2", image=image)

    assert account.left() == [(BOB, "look", image), (BOB, "", image)]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"text": ""}, "MESSAGE_EMPTY"),
        ({"text": " \n"}, "MESSAGE_EMPTY"),
        ({"chat": NOBODY}, "CHAT_UNKNOWN"),
        ({"image": b"no image"}, "IMAGE_INVALID"),
        ({"image": PNG, "digest": bytes(32)}, "IMAGE_INVALID"),
        ({"own_id": ""}, "BAD_REQUEST_ID"),
        ({"own_id": "x" * 201}, "BAD_REQUEST_ID"),
    ],
    ids=str,
)
async def test_what_is_refused_leaves_no_record_and_its_id_is_free(
    account: Account, fields: dict[str, Any], reason: str
) -> None:
    assert await refusal(send(account, **{"text": "hello", **fields})) == reason
    assert account.left() == []
    unknown = account.stub.GetSend(v1.GetSendRequest(request_id=fields.get("own_id", "1")), timeout=CALL_S)
    assert await refusal(unknown) == "SEND_UNKNOWN"

    assert (await send(account)).send.state == v1.SEND_STATE_SENT


async def test_what_became_of_a_send_can_be_asked(account: Account) -> None:
    sent = (await send(account)).send

    found = await account.stub.GetSend(v1.GetSendRequest(request_id="1"), timeout=CALL_S)

    assert found.send == sent


async def test_without_a_connection_nothing_is_sent_and_the_id_is_free(account: Account) -> None:
    await send(account, own_id="before")
    account.drop()

    assert await refusal(send(account)) == "NOT_CONNECTED"
    assert (await send(account, own_id="before")).send.state == v1.SEND_STATE_SENT, "a known id is answered"
    assert len(account.left()) == 1


async def test_without_a_link_nothing_is_found_or_sent(account: Account) -> None:
    account.end()

    assert await refusal(send(account)) == "NOT_LINKED"
    assert await refusal(find(account, "bob")) == "NOT_LINKED"
    assert account.left() == []
