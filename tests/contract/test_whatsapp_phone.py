"""The phone that a person plays with does what its help says."""

import pytest
from onechat_whatsapp.wire.events import Disconnected, Heard, LoggedOut, PairingStatus, WireEvent

from tests.fakes.whatsapp_account import OWNER
from tests.fakes.whatsapp_desk import account_of_ann
from tests.fakes.whatsapp_phone import HELP, Phone
from tests.fakes.whatsapp_scripts import BOB, GARDEN


class Played:
    """A phone, and what came of its lines."""

    def __init__(self) -> None:
        self.account = account_of_ann()
        self.account.online = True
        self.came: list[WireEvent] = []
        self.account.emit = self.came.append
        self.crashed = False
        self.phone = Phone(self.account, self._crash)

    def _crash(self) -> None:
        self.crashed = True


@pytest.fixture
def played():
    return Played()


def test_a_friend_writes_in_private_and_to_a_group_and_mentions_the_owner(played):
    played.phone.do("bob hello there")
    played.phone.do("garden bob @you look")

    private, group = played.came
    assert isinstance(private, Heard)
    assert isinstance(group, Heard)
    assert (private.chat, private.text, private.from_me) == (BOB, "hello there", False)
    assert (group.chat, group.sender, group.mentions) == (GARDEN, BOB, (OWNER.number,))
    assert group.text == "@15550001111 look"
    assert private.message_id != group.message_id


def test_the_owner_links_writes_and_ends_the_link(played):
    played.account.me = None
    for line in ("type", "me bob hi", "drop", "out"):
        played.phone.do(line)

    kinds = [type(event) for event in played.came]
    assert kinds[0] is PairingStatus
    assert kinds[-3:] == [Heard, Disconnected, LoggedOut]
    assert played.account.me is None


def test_every_line_of_the_help_does_something(played):
    words = [word.split()[0] for line in HELP.splitlines() for word in line.split("  ")[0].split(", ")]
    rests = {"bob": "hi", "cat": "hi", "garden": "bob hi", "me": "cat hi", "lost": "bob"}

    for word in words:
        said = played.phone.do(f"{word} {rests.get(word, '')}")
        assert (said == HELP) == (word == "help"), word

    assert played.crashed
    assert len(played.account.dial_faults) == 1
    assert len(played.account.send_faults) == 2


def test_what_is_no_line_gets_the_help(played):
    assert played.phone.do("dance") == HELP
