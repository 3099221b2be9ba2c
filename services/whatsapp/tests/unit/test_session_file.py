"""What the gateway reads in the library's session, whatever stands there."""

import apsw
import pytest
from onechat_whatsapp.domain.names import Contact
from onechat_whatsapp.wire.ports import SessionUnreadable
from onechat_whatsapp.wire.session_file import SessionFile

from tests.fakes.whatsapp_account import OWNER, WhatsAppAccount
from tests.fakes.whatsapp_scripts import BOB, CAT
from tests.fakes.whatsapp_world import write_session


def contact(jid: str, name: str) -> Contact:
    return Contact(id=jid, full_name=name, first_name="", push_name=name, business_name="")


@pytest.fixture
def session(tmp_path):
    """Ann's, who knows Bob and Cat."""
    account = WhatsAppAccount(OWNER)
    account.contacts = [contact(BOB, "Bob"), contact(CAT, "Cat")]
    write_session(tmp_path / "session.db", account)
    return SessionFile(tmp_path / "session.db")


def test_names_that_are_no_utf8_are_read_as_far_as_they_are(session):
    """Others choose them, and the library keeps what comes: one of them must not hide all the rest."""
    with apsw.Connection(str(session.path)) as db:
        db.execute("UPDATE whatsmeow_device SET push_name = CAST(x'41edA0bd42' AS TEXT)")
        db.execute(
            "UPDATE whatsmeow_contacts SET push_name = CAST(x'426fff62' AS TEXT), full_name = NULL"
            " WHERE their_jid = ?",
            (BOB,),
        )

    names = {each.id: each.push_name for each in session.contacts()}
    me = session.me()

    assert names == {BOB: "Bo\ufffdb", CAT: "Cat"}
    assert me is not None
    assert (me.number, me.push_name[0], me.push_name[-1]) == (OWNER.number, "A", "B")


@pytest.mark.parametrize("content", [None, b"", b"no database" * 1000])
def test_what_is_no_session_holds_nothing(tmp_path, content):
    path = tmp_path / "session.db"
    if content is not None:
        path.write_bytes(content)
    session = SessionFile(path)

    assert (session.is_linked(), session.me(), session.contacts()) == (False, None, [])
    assert (session.number_of("1@lid"), session.lid_of(BOB)) == ("", "")


@pytest.mark.parametrize("target", ["session.db", "nothing"], ids=["to itself", "to nothing"])
def test_a_session_that_cannot_be_opened_is_not_said_to_be_none(tmp_path, target):
    """Such as one that was put back by another user: whoever is told that it is lost would unlink it."""
    path = tmp_path / "session.db"
    path.symlink_to(tmp_path / target)

    with pytest.raises(SessionUnreadable, match="unable to open"):
        SessionFile(path).is_linked()


def test_a_session_that_is_damaged_holds_what_can_be_read_and_raises_nothing(session):
    """The gateway goes on without it, and says that it is not linked."""
    whole = session.path.read_bytes()
    for place in range(100, len(whole), 512):
        session.path.write_bytes(whole[:place] + b"\xff" * 64 + whole[place + 64 :])

        session.contacts()
        session.me()


def test_a_session_that_another_program_holds_is_not_said_to_be_none(session):
    """Taken for none, the user would be told that the link is lost."""
    busy = SessionFile(session.path, busy_ms=10)
    other = apsw.Connection(str(session.path))
    other.execute("BEGIN EXCLUSIVE")

    for read in (busy.is_linked, busy.me, busy.contacts, lambda: busy.lid_of(BOB)):
        with pytest.raises(SessionUnreadable, match="locked"):
            read()

    other.execute("COMMIT")
    assert busy.is_linked()
    assert busy.me() == OWNER


def test_what_a_link_leads_to_is_deleted_as_well(session):
    """Whoever has it can read the account, and the user is told that nothing of it is left."""
    elsewhere = session.path.with_name("elsewhere.db")
    session.path.rename(elsewhere)
    session.path.symlink_to(elsewhere)
    assert session.is_linked()

    session.delete()

    assert list(session.path.parent.iterdir()) == []
