"""A session that another program holds: whoever finds or sends is told so, and that nothing was sent."""

import grpc
import pytest
from onechat.whatsapp.v1 import whatsapp_service_pb2 as v1
from onechat.whatsapp.v1 import whatsapp_service_pb2_grpc
from onechat_runtime.errors import RemoteError
from onechat_whatsapp.chat_servicer import HELD
from onechat_whatsapp.wire.ports import Me, SessionUnreadable

from tests.fakes.loopback import serving
from tests.fakes.whatsapp_account import OWNER, WhatsAppAccount
from tests.fakes.whatsapp_desk import desk_at, text
from tests.fakes.whatsapp_scripts import BOB, BOB_LID


class HeldAccount(WhatsAppAccount):
    """The owner's account, whose session nobody can read while it is held."""

    held = False

    @property
    def me(self) -> Me | None:
        if self.held:
            raise SessionUnreadable("BusyError: database is locked")
        return OWNER

    @me.setter
    def me(self, me: Me | None) -> None:
        """It stays the owner's."""


async def test_it_is_said_so_and_that_nothing_was_sent(tmp_path):
    """It is no fault of the program, after which the model must say that nobody knows what became of it."""
    account = HeldAccount()
    async with desk_at(tmp_path, account=account) as desk, serving(desk.served()) as loopback:
        stub = whatsapp_service_pb2_grpc.WhatsAppServiceStub(loopback.channel("agent"))
        account.held = True
        header = v1.SendMessageRequest(header=v1.SendHeader(request_id="1", chat_id=BOB, text="hello"))
        with pytest.raises(RemoteError) as not_sent:
            await stub.SendMessage(iter([header]), timeout=20)
        with pytest.raises(RemoteError) as not_found:
            await stub.FindChats(v1.FindChatsRequest(name="bob"), timeout=20)
        known = desk.known("1")

    assert (not_sent.value.code, not_sent.value.reason) == (grpc.StatusCode.UNAVAILABLE, "NOT_CONNECTED")
    assert not_sent.value.message == f"Nothing was sent. {HELD}"
    assert (not_found.value.reason, not_found.value.message) == ("NAMES_NOT_READY", HELD)
    assert (known, account.sent) == (False, [])


async def test_an_id_that_was_used_is_known_all_the_same(tmp_path):
    account = HeldAccount()
    async with desk_at(tmp_path, account=account) as desk:
        await desk.hear(BOB)
        first = await desk.sending.send("1", text())
        account.held = True
        again = await desk.sending.send("1", text())
        other = await desk.sending.send("1", text(chat=BOB_LID))

    assert (again, other.record) == (first, first.record)
    assert other.other_message  # nobody can tell that it is the same chat
    assert len(account.sent) == 1
