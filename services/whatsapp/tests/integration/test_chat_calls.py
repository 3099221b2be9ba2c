"""The calls about chats at the service's door: streams, pages, reasons."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from onechat.common.v1.chunk_pb2 import Chunk
from onechat.whatsapp.v1 import whatsapp_service_pb2 as v1
from onechat.whatsapp.v1 import whatsapp_service_pb2_grpc
from onechat_runtime.errors import RemoteError

from tests.fakes.loopback import serving
from tests.fakes.whatsapp_account import OWNER
from tests.fakes.whatsapp_desk import PNG, START, Desk, contact, desk_at
from tests.fakes.whatsapp_scripts import BOB, CARS, CAT, GARDEN


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with desk_at(tmp_path) as desk:
        yield desk


@pytest.fixture
async def stub(desk: Desk) -> AsyncIterator[Any]:
    async with serving(desk.served()) as loopback:
        yield whatsapp_service_pb2_grpc.WhatsAppServiceStub(loopback.channel("agent"))


def header(request_id: str = "1", text: str = "hello", chat: str = BOB) -> v1.SendMessageRequest:
    return v1.SendMessageRequest(header=v1.SendHeader(request_id=request_id, chat_id=chat, text=text))


def piece(content: bytes = b"", sha256: bytes = b"") -> v1.SendMessageRequest:
    return v1.SendMessageRequest(chunk=Chunk(content=content, sha256=sha256))


def pieces(image: bytes, size: int = 65_536) -> Iterator[v1.SendMessageRequest]:
    yield from (piece(image[at : at + size]) for at in range(0, len(image), size))
    yield piece(sha256=hashlib.sha256(image).digest())


async def sent(stub: Any, *parts: v1.SendMessageRequest) -> v1.SendMessageResponse:
    return await stub.SendMessage(iter(parts), timeout=10)


async def refusal(call: Any) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(RemoteError) as caught:
        await call
    return caught.value.code, caught.value.reason


async def test_a_send_and_what_became_of_it(desk: Desk, stub: Any) -> None:
    answer = await sent(stub, header())
    looked_up = await stub.GetSend(v1.GetSendRequest(request_id="1"), timeout=5)

    expected = v1.Send(
        request_id="1", chat_id=BOB, state=v1.SEND_STATE_SENT, message_id=desk.account.sent[0].id
    )
    expected.time.FromDatetime(START)
    assert (answer.send, answer.other_message) == (expected, False)
    assert looked_up.send == expected


async def test_an_image_in_pieces_arrives_whole(desk: Desk, stub: Any) -> None:
    image = PNG + bytes(range(256)) * 1_000

    await sent(stub, header(text="look"), *pieces(image))

    assert (desk.account.sent[0].image, desk.account.sent[0].text) == (image, "look")


async def test_the_same_text_with_and_without_an_image_are_two_messages(desk: Desk, stub: Any) -> None:
    await sent(stub, header())

    answer = await sent(stub, header(), *pieces(PNG))

    assert answer.other_message
    assert len(desk.account.sent) == 1


@pytest.mark.parametrize(
    "parts",
    [
        [piece(PNG)],
        [piece(PNG), piece(sha256=bytes(32))],
        [piece(PNG, hashlib.sha256(PNG).digest()), piece(b"more")],
        [piece(b"")],
        [*pieces(PNG + bytes(200_000), 70_000)],
        [*pieces(PNG), header()],
        [*pieces(b"")],
        [*pieces(b"<svg xmlns='http://www.w3.org/2000/svg'/>")],
        [*pieces(PNG + bytes(16 * 2**20))],
    ],
    ids=lambda parts: f"{len(parts)}-{len(parts[0].chunk.content)}",
)
async def test_an_image_that_is_none_or_did_not_come_whole_is_not_sent(
    desk: Desk, stub: Any, parts: list[v1.SendMessageRequest]
) -> None:
    refused = await refusal(sent(stub, header(), *parts))

    assert refused == (grpc.StatusCode.INVALID_ARGUMENT, "IMAGE_INVALID")
    assert desk.account.sent == []


@pytest.mark.parametrize("parts", [[], [piece(PNG)], [v1.SendMessageRequest()]])
async def test_a_stream_without_a_header_sends_nothing(
    desk: Desk, stub: Any, parts: list[v1.SendMessageRequest]
) -> None:
    assert await refusal(sent(stub, *parts)) == (grpc.StatusCode.INVALID_ARGUMENT, "MESSAGE_EMPTY")
    assert desk.account.sent == []


async def test_each_refusal_has_the_reason_of_the_contract(desk: Desk, stub: Any) -> None:
    unknown = await refusal(stub.GetSend(v1.GetSendRequest(request_id="9"), timeout=5))
    no_id = await refusal(sent(stub, header(request_id="")))
    empty = await refusal(sent(stub, header(text=" ")))
    stranger = await refusal(sent(stub, header(chat="15559999999@s.whatsapp.net")))
    desk.account.drop()
    offline = await refusal(sent(stub, header()))
    desk.account.log_out()
    unlinked = await refusal(sent(stub, header()))

    assert unknown == (grpc.StatusCode.NOT_FOUND, "SEND_UNKNOWN")
    assert no_id == (grpc.StatusCode.INVALID_ARGUMENT, "BAD_REQUEST_ID")
    assert empty == (grpc.StatusCode.INVALID_ARGUMENT, "MESSAGE_EMPTY")
    assert stranger == (grpc.StatusCode.NOT_FOUND, "CHAT_UNKNOWN")
    assert offline == (grpc.StatusCode.UNAVAILABLE, "NOT_CONNECTED")
    assert unlinked == (grpc.StatusCode.FAILED_PRECONDITION, "NOT_LINKED")


async def test_chats_are_found_with_their_kind(stub: Any) -> None:
    found = await stub.FindChats(v1.FindChatsRequest(name="bob"), timeout=5)

    assert list(found.chats) == [
        v1.Chat(chat_id=BOB, name="Bob Builder", kind=v1.CHAT_KIND_CONTACT),
        v1.Chat(chat_id=CARS, name="Cars & Bob's", kind=v1.CHAT_KIND_GROUP),
    ]
    assert found.next_page_token == ""


async def test_twenty_come_at_once_and_the_rest_on_further_pages(desk: Desk, stub: Any) -> None:
    desk.account.contacts += [contact(f"1555010{n:04}@s.whatsapp.net", f"Smith {n:02}") for n in range(45)]
    token, pages = "", []
    for _ in range(3):
        page = await stub.FindChats(v1.FindChatsRequest(name="smith", page_token=token), timeout=5)
        pages.append([chat.name for chat in page.chats])
        token = page.next_page_token

    assert [len(page) for page in pages] == [20, 20, 5]
    assert [name for page in pages for name in page] == [f"Smith {n:02}" for n in range(45)]
    assert token == ""


@pytest.mark.parametrize(
    ("size", "token"), [(-1, ""), (21, ""), (0, "x"), (0, "-1"), (0, "²"), (0, "9" * 30)]
)
async def test_a_page_that_was_not_given_is_refused(stub: Any, size: int, token: str) -> None:
    asked = stub.FindChats(v1.FindChatsRequest(name="", page_size=size, page_token=token), timeout=5)

    assert await refusal(asked) == (grpc.StatusCode.INVALID_ARGUMENT, "BAD_PAGE")


async def test_contacts_come_in_pages(desk: Desk, stub: Any) -> None:
    desk.account.contacts += [contact(f"1555010{n:04}@s.whatsapp.net", f"Smith {n}") for n in range(250)]
    token, names = "", []
    while True:
        page = await stub.ListContacts(v1.ListContactsRequest(page_size=99, page_token=token), timeout=5)
        names += [chat.name for chat in page.contacts]
        if not (token := page.next_page_token):
            break

    assert len(names) == len(set(names)) == 252
    assert {"Bob Builder", "Cátia Gomes"} < set(names)
    assert await refusal(stub.ListContacts(v1.ListContactsRequest(page_size=1_001), timeout=5)) == (
        grpc.StatusCode.INVALID_ARGUMENT,
        "BAD_PAGE",
    )


async def test_the_profile_name_is_told(stub: Any) -> None:
    profile = await stub.GetProfile(v1.GetProfileRequest(), timeout=5)

    assert profile.name == OWNER.push_name


async def test_a_send_at_work_is_not_known_yet(desk: Desk, stub: Any) -> None:
    """Nobody can tell, so it must not look as if it had not been sent."""
    desk.wire.stalled_after = asyncio.Event()
    call = asyncio.ensure_future(sent(stub, header(chat=CAT)))
    async with asyncio.timeout(5):
        while not desk.account.sent:
            await asyncio.sleep(0)

    at_work = await stub.GetSend(v1.GetSendRequest(request_id="1"), timeout=5)
    desk.wire.stalled_after.set()

    assert at_work.send.state == v1.SEND_STATE_UNKNOWN
    assert (await call).send.state == v1.SEND_STATE_SENT


async def test_a_group_is_written_to_as_a_person_is(desk: Desk, stub: Any) -> None:
    await sent(stub, header(chat=GARDEN))

    assert desk.account.sent[0].chat == GARDEN
