"""Another account is linked over the same gateway: what is read is hidden from the new one's side."""

from collections.abc import Sequence

from onechat_whatsapp.domain.chat_ids import ChatId
from onechat_whatsapp.domain.messages import Message
from onechat_whatsapp.domain.name_search import NamedChat
from onechat_whatsapp.reading import Reading
from onechat_whatsapp.wire.events import Connected, PairingStatus
from onechat_whatsapp.wire.ports import Me

from tests.fakes.clock import ManualClock
from tests.fakes.whatsapp_account import OWNER, WhatsAppAccount
from tests.fakes.whatsapp_scripts import BOB, CAT, heard
from tests.fakes.whatsapp_wire import FakeWire

NEXT = Me(number="15550009999@s.whatsapp.net", lid="55554444333322@lid", push_name="Dan")


class NoGroups:
    """Nobody is in a group."""

    async def groups(self) -> list[NamedChat]:
        return []


class Texts:
    """Where messages go."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def take(self, messages: Sequence[Message]) -> None:
        self.texts += [message.text for message in messages]

    async def merge(self, old: ChatId, new: ChatId) -> None:
        """Nothing to do."""


async def test_the_new_accounts_number_is_hidden_from_its_first_message_on() -> None:
    """The library may give messages before it says that the connection stands."""
    account, taken = WhatsAppAccount(OWNER), Texts()
    reading = Reading(FakeWire(account), NoGroups(), taken, ManualClock())
    await reading.hear(Connected())
    await reading.hear(heard("old: +1 555 000 1111, new: +1 555 000 9999", chat=BOB))
    account.me = NEXT
    await reading.hear(PairingStatus(status="success"))
    await reading.hear(heard("old: +1 555 000 1111, new: +1 555 000 9999", chat=CAT))

    assert taken.texts == ["old: OWN, new: +1 555 000 9999", "old: +1 555 000 1111, new: OWN"]
