"""neonize itself, in a process of its own and with no network but loopback: what the wire counts on of it.

A proxy on a closed port of loopback takes the place of the internet, so every attempt to connect is refused
here. What it can't tell: whether WhatsApp takes the client, and all that happens once it has.
"""

import asyncio
import json
import os
import subprocess
import sys
import textwrap
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import apsw
import pytest
from onechat_whatsapp.domain.names import Contact
from onechat_whatsapp.wire.ports import DialFailed, NotSent, WireGone
from onechat_whatsapp.wire.supervisor import WhatsAppSupervisor
from onechat_whatsapp.wire_child.send_failures import failure_of
from onechat_whatsapp.wire_child.translation import WANTED

from tests.contract.source_tree import REPOSITORY
from tests.fakes.whatsapp_account import OWNER, WhatsAppAccount
from tests.fakes.whatsapp_device import link_by_hand
from tests.fakes.whatsapp_library import missing
from tests.fakes.whatsapp_scripts import BOB, BOB_LID

WITHIN_S = 60.0
NOWHERE = {**os.environ, "HTTPS_PROXY": "http://127.0.0.1:9", "NEONIZE_BOT_TAG": "off"}


pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "it is there")


@pytest.fixture(scope="module")
def inside(tmp_path_factory) -> dict[str, Any]:
    """What the library says of itself, in a process of its own, since it may abort."""
    script = """
    import asyncio, json, sys
    import neonize
    from neonize import events
    from neonize._binder import ProxySettings, gocode
    from neonize.aioze import events as loops
    from neonize.aioze.client import NewAClient
    from neonize.proto.Neonize_pb2 import JID
    from neonize.proto.waE2E.WAWebProtobufsE2E_pb2 import Message
    from neonize.utils.enum import ClientName, ClientType, MediaType

    async def words_of_a_send():
        unset = {"RawAgent": 0, "Device": 0, "Integrator": 0, "IsEmpty": False}
        bob = JID(User="15550002222", Server="s.whatsapp.net", **unset)
        try:
            await NewAClient(sys.argv[2]).send_message(bob, Message(conversation="hello"))
        except Exception as error:
            return str(error)

    wanted = json.loads(sys.argv[1])
    print(json.dumps({
        "versions": [neonize.__version__, gocode.GetVersion().decode()],
        "login": hasattr(NewAClient, "_NewAClient__onLoginStatus"),
        "loop": hasattr(loops, "event_global_loop"),
        "unknown": [name for name in wanted if getattr(events, name, None) not in events.EVENT_TO_INT],
        "display": f"{ClientType.CHROME.name} ({ClientName.LINUX.name})",
        "image": MediaType.MediaImage.value,
        "words": asyncio.run(words_of_a_send()),
    }), flush=True)
    """
    told = subprocess.run(
        [
            *(sys.executable, "-c", textwrap.dedent(script)),
            *(json.dumps(WANTED), str(tmp_path_factory.mktemp("inside") / "session.db")),
        ],
        capture_output=True,
        text=True,
        env=NOWHERE,
        timeout=WITHIN_S,
        check=False,
    )
    assert told.returncode == 0, told.stderr[-2000:]
    facts: dict[str, Any] = json.loads(told.stdout.splitlines()[-1])
    return facts


@pytest.fixture
async def wire(tmp_path):
    folder = tmp_path / "whatsapp ü"
    folder.mkdir(mode=0o700)
    made = WhatsAppSupervisor(folder / "session.db", environment=NOWHERE)
    yield made
    await made.kill()


async def refused(wire: WhatsAppSupervisor) -> str:
    """What a start says where nothing can be reached."""
    with pytest.raises(DialFailed) as failed:
        await wire.start()
    return str(failed.value)


def session_of(tmp_path: Path) -> Path:
    return tmp_path / "whatsapp ü" / "session.db"


def test_it_is_the_release_that_is_pinned_and_its_library_is_of_that_release(inside):
    ours = tomllib.loads((REPOSITORY / "services" / "whatsapp" / "pyproject.toml").read_text())["project"]

    assert f"neonize=={version('neonize')}" in ours["dependencies"]
    assert inside["versions"] == [version("neonize")] * 2


def test_its_private_parts_and_events_are_where_the_wire_looks_for_them(inside):
    """A login's words come by a private method; an event that it doesn't know can't be asked for."""
    assert (inside["login"], inside["loop"], inside["unknown"]) == (True, True, [])
    assert (inside["display"], inside["image"]) == ("Chrome (Linux)", 0)


def test_the_words_for_a_send_without_a_connection_are_known(inside):
    failure = failure_of(inside["words"])

    assert isinstance(failure, NotSent)
    assert failure.offline


async def test_a_refused_connection_is_a_failed_dial_and_the_same_process_tries_again(wire, tmp_path):
    said = [await refused(wire) for _ in range(3)]

    assert all("127.0.0.1:9" in each and "refused" in each for each in said)
    assert not await wire.is_online()
    modes = {file.name: oct(file.stat().st_mode & 0o777) for file in session_of(tmp_path).parent.iterdir()}
    assert "session.db" in modes
    assert set(modes.values()) == {"0o600"}, "another user could read the account"


async def test_until_it_is_connected_everything_is_refused_and_nothing_aborts(wire):
    """Asked now, the library itself would end its process."""
    await refused(wire)

    with pytest.raises(NotSent) as failed:
        await wire.send_text(BOB, "hello")
    with pytest.raises(NotSent):
        await wire.send_image(BOB, b"\x89PNG", "image/png", "")
    for asked in (wire.groups(), wire.pair("15550001111"), wire.logout()):
        with pytest.raises(WireGone, match="not connected"):
            await asked

    assert failed.value.offline
    assert "refused" in await refused(wire)


async def test_the_gateway_reads_in_it_who_is_linked_and_whom_they_know(wire, tmp_path):
    """Also while the library has it open, and after it was killed."""
    account = WhatsAppAccount(OWNER)
    account.contacts = [
        Contact(id=BOB, full_name="Bob Ünger", first_name="", push_name="bobby", business_name=""),
        Contact(id=BOB_LID, full_name="", first_name="", push_name="bobby", business_name=""),
    ]
    account.lids = {BOB: BOB_LID}
    assert (await wire.is_linked(), await wire.me(), await wire.contacts()) == (False, None, [])
    await refused(wire)
    assert not await wire.is_linked()

    link_by_hand(session_of(tmp_path), account)

    for _ in range(2):
        assert await wire.is_linked()
        assert await wire.me() == OWNER
        assert sorted(each.id for each in await wire.contacts()) == sorted([BOB, BOB_LID])
        assert account.contacts[0] in await wire.contacts()
        assert (await wire.number_of(BOB_LID), await wire.lid_of(BOB)) == (BOB, BOB_LID)
        assert "refused" in await refused(wire)  # as a linked account
        await wire.kill()


async def test_what_is_forgotten_is_gone_and_may_be_linked_again(wire, tmp_path):
    await refused(wire)
    link_by_hand(session_of(tmp_path), WhatsAppAccount(OWNER))

    await wire.forget()

    assert [each.name for each in session_of(tmp_path).parent.iterdir()] == ["session.db.lock"]
    assert not await wire.is_linked()
    assert "refused" in await refused(wire)
    assert not await wire.is_linked()


async def test_it_can_be_copied_while_the_library_has_it_open_and_stays_after_a_stop(wire, tmp_path):
    """A backup reads it from another process than the one that holds it."""
    await refused(wire)
    link_by_hand(session_of(tmp_path), WhatsAppAccount(OWNER))
    copy = tmp_path / "copy.db"

    apsw.Connection(str(session_of(tmp_path))).execute("VACUUM INTO ?", (str(copy),))
    await asyncio.wait_for(wire.stop(), 10)

    for path in (copy, session_of(tmp_path)):
        db = apsw.Connection(str(path))
        assert db.execute("PRAGMA integrity_check").get == "ok"
        assert db.execute("SELECT push_name FROM whatsmeow_device").get == OWNER.push_name
        assert db.execute("SELECT version FROM whatsmeow_version").get == 15
    assert await wire.me() == OWNER


async def test_what_is_no_session_file_is_a_failed_dial(wire, tmp_path):
    session_of(tmp_path).write_bytes(b"no database" * 1000)

    assert "database" in await refused(wire)
    assert (await wire.is_linked(), await wire.me(), await wire.contacts()) == (False, None, [])
