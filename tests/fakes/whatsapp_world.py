"""The world around the real wire: its child process has a stub for the library, and the account is here.

    async with real_wire(tmp_path, WhatsAppAccount(OWNER)) as (wire, world):
        await wire.start()
        world.account.come(heard("hello"))
        world.crash()

The session file has the tables that the gateway reads, with the account's state whenever something is asked
or comes; where the gateway removed it, the account here forgets its link as well. The child:
whatsapp_child.py.
"""

import asyncio
import os
import socket
import struct
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import apsw
from onechat_whatsapp.wire.calls import HangUp
from onechat_whatsapp.wire.codec import call_in
from onechat_whatsapp.wire.events import Heard, WireEvent
from onechat_whatsapp.wire.frames import read_frame
from onechat_whatsapp.wire.supervisor import Patience, WhatsAppSupervisor
from onechat_whatsapp.wire_child.serving import Serving

from tests.contract.source_tree import REPOSITORY
from tests.fakes.whatsapp_account import WhatsAppAccount

#: Short where a test waits for nothing to come, long where a busy machine may need it.
QUICK = Patience(dial_s=90, hang_up_s=6, end_s=6, pair_s=30, logout_s=30, online_s=20, groups_s=30, send_s=30)
TABLES = """
CREATE TABLE IF NOT EXISTS whatsmeow_device (jid TEXT PRIMARY KEY, lid TEXT, push_name TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS whatsmeow_contacts (our_jid TEXT, their_jid TEXT, first_name TEXT, full_name TEXT,
    push_name TEXT, business_name TEXT, PRIMARY KEY (our_jid, their_jid));
CREATE TABLE IF NOT EXISTS whatsmeow_lid_map (lid TEXT PRIMARY KEY, pn TEXT UNIQUE NOT NULL);
DELETE FROM whatsmeow_device; DELETE FROM whatsmeow_contacts; DELETE FROM whatsmeow_lid_map;
"""


def write_session(path: Path, account: WhatsAppAccount) -> None:
    """Write what `account` knows into the session file at `path`, as the library would."""
    opened = apsw.Connection(str(path))
    opened.set_busy_timeout(10_000)  # the gateway reads it meanwhile
    with opened as db:
        db.execute(TABLES)
        for number, lid in account.lids.items():
            db.execute(
                "INSERT INTO whatsmeow_lid_map VALUES (?, ?)", (lid.split("@")[0], number.split("@")[0])
            )
        if account.me is None:
            return
        own, lid = account.me.number.replace("@", ":7@"), account.me.lid.replace("@", ":7@")
        db.execute("INSERT INTO whatsmeow_device VALUES (?, ?, ?)", (own, lid, account.me.push_name))
        for each in account.contacts:
            db.execute(
                "INSERT INTO whatsmeow_contacts VALUES (?, ?, ?, ?, ?, ?)",
                (own, each.id, each.first_name, each.full_name, each.push_name, each.business_name),
            )


class World:
    """The account, and the connection of the child that runs, if one does."""

    def __init__(self, session: Path, account: WhatsAppAccount) -> None:
        self.session = session
        self.account = account
        self.children = 0  #: how many were started
        self.pid = 0  #: of the latest child
        self.given: list[
            tuple[int, WireEvent]
        ] = []  #: what came, each with the number of the child that got it
        self.asked: Counter[str] = Counter()  #: how often each kind of call was asked of the library
        self.left: Callable[[int], None] = lambda child: (
            None
        )  #: called with the number of each child that ended
        self._writer: asyncio.StreamWriter | None = None
        self._kept: object = None
        self.keep_session()

    def keep_session(self) -> None:
        """Bring the session file up to date."""
        account, there = self.account, self.session.exists()
        if self._kept and not there:
            account.me = None
            account.contacts.clear()
            account.lids.clear()
        now = (account.me, tuple(account.contacts), tuple(account.lids.items()))
        if now != self._kept or not there:
            write_session(self.session, account)
            self._kept = now

    def crash(self) -> None:
        """End the child as a fault of the library does."""
        assert self._writer
        self.account.dialled = self.account.online = False
        self._writer.close()

    def _note_ids(self, event: WireEvent) -> None:
        """Keep which LID is whose number, as the library does of whatever comes with both."""
        if isinstance(event, Heard) and event.sender_alt:
            lid, number = sorted((event.sender, event.sender_alt), key=lambda one: not one.endswith("@lid"))
            self.account.lids[number] = lid

    async def meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a child for as long as it runs."""
        self.children += 1
        child, self.pid, self._writer = self.children, _pid_behind(writer), writer

        def write(framed: bytes) -> None:
            self.keep_session()
            if not writer.is_closing():
                writer.write(framed)

        def account(emit):
            def give(event: WireEvent) -> None:
                self.given.append((child, event))
                self._note_ids(event)
                emit(event)

            self.account.emit = give
            return self.account

        serving = Serving(account, write)
        while read := await read_frame(reader):
            number, call = call_in(read[1])
            self.asked[type(call).__name__] += 1
            self.keep_session()
            if isinstance(call, HangUp):
                await serving.answer(number, call)
            else:
                serving.begin(number, call)
        if writer is self._writer:
            self.account.dialled = self.account.online = False
        writer.close()
        self.left(child)


def _pid_behind(writer: asyncio.StreamWriter) -> int:
    """The process at the other end of a socket of this machine."""
    size = struct.calcsize("3i")
    found = writer.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    pid, _, _ = struct.unpack("3i", found)
    return int(pid)


@asynccontextmanager
async def world_at(session: Path, account: WhatsAppAccount) -> AsyncIterator[tuple[World, Path]]:
    """The world around the session file `session`, and its socket, which children are to be started with."""
    world = World(session, account)
    with tempfile.TemporaryDirectory(prefix="w") as short:  # a socket's path has at most 107 bytes
        path = Path(short, "world")
        server = await asyncio.start_unix_server(world.meet, path=str(path))
        try:
            yield world, path
        finally:
            server.close()


@asynccontextmanager
async def real_wire(
    folder: Path, account: WhatsAppAccount, *, dials_max: int = 200, patience: Patience = QUICK
) -> AsyncIterator[tuple[WhatsAppSupervisor, World]]:
    """The real wire with `account` at its end, its session in `folder`."""
    async with world_at(folder / "session.db", account) as (world, socket_path):
        wire = WhatsAppSupervisor(
            world.session,
            command=(sys.executable, "-m", "tests.fakes.whatsapp_child", str(socket_path)),
            environment={**os.environ, "PYTHONPATH": str(REPOSITORY)},
            patience=patience,
            dials_max=dials_max,
        )
        try:
            yield wire, world
        finally:
            await wire.kill()
