"""The phone that a person plays with does what its help says, and its service is the real one."""

import asyncio
import json
import os
import sys

import pytest
from onechat.whatsapp.v1 import whatsapp_service_pb2 as v1
from onechat.whatsapp.v1 import whatsapp_service_pb2_grpc
from onechat_runtime.channels import open_channel
from onechat_whatsapp.wire.events import Disconnected, Heard, LoggedOut, PairingStatus, WireEvent

from tests.contract.source_tree import REPOSITORY
from tests.fakes.whatsapp_account import CODE, OWNER, WhatsAppAccount
from tests.fakes.whatsapp_desk import account_of_ann
from tests.fakes.whatsapp_phone import HELP, Phone
from tests.fakes.whatsapp_scripts import BOB, GARDEN
from tests.fakes.whatsapp_stage import WORLD
from tests.fakes.whatsapp_world import world_at


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


async def test_the_service_beside_it_asks_the_played_account_for_a_code(tmp_path):
    """Else it would be found broken by whoever next wants to see what a person sees."""
    folder = tmp_path / "whatsapp"
    folder.mkdir(mode=0o700)
    account = WhatsAppAccount()
    async with world_at(folder / "session.db", account) as (_, socket):
        environ = {name: value for name, value in os.environ.items() if not name.startswith("ONECHAT_")}
        environ |= {"ONECHAT_DATA": str(tmp_path), "ONECHAT_WHATSAPP_ADDRESS": "127.0.0.1:0"}
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.fakes.whatsapp_stage"),
            env=environ | {WORLD: str(socket)},
            cwd=REPOSITORY,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            ready = await anext(line async for line in process.stderr if b'"event": "ready"' in line)
            token = (tmp_path / "tokens" / "agent").read_text().strip()
            async with open_channel(json.loads(ready)["address"], token=token, name="whatsapp") as channel:
                stub = whatsapp_service_pb2_grpc.WhatsAppServiceStub(channel)
                answer = await stub.Pair(v1.PairRequest(phone="+1 555 000 1111"), timeout=30)
        finally:
            process.kill()
            await process.wait()

    assert answer.code == CODE
    assert account.phones == ["15550001111"]
