"""Finding a chat by name among many contacts, in this process, over a session file as the library keeps it.

Names and numbers are made; half of the people are in the file twice, by number and by LID. The groups are
those of one answer of WhatsApp's, which is kept an hour. Times are seconds.
"""

import statistics
import tempfile
from pathlib import Path
from typing import Final, cast

import apsw
from onechat_runtime.clock import SystemClock
from onechat_whatsapp.directory import Directory
from onechat_whatsapp.domain.name_search import folded
from onechat_whatsapp.domain.names import Contact
from onechat_whatsapp.finding import Finding
from onechat_whatsapp.wire.ports import GroupRow, Me, WhatsAppWire
from onechat_whatsapp.wire.session_file import SessionFile

from bench.baselines import Call, time_of
from bench.figures import Figure, figure, milliseconds, ratio
from bench.scale import Scale

TITLE: Final = "Finding a WhatsApp chat by name"
ABOUT: Final = (
    "Every second person is in the session twice, by number and by LID. A rare name fits one person, a "
    "common one a tenth of them, and a letter most; of those who fit, each LID is looked up, which is kept. "
    "Kinds take turns, p50 of a round's, and the first find of a round knows nothing yet. The baseline reads "
    "all contacts from the same file and looks for nothing in them."
)
AT_MOST_MS: Final = 200.0
KINDS: Final = ("all contacts read", "find: a rare name", "find: a common name", "find: a letter")
_GROUPS: Final = 200
_OWN: Final = "15550000000"
_FIRST: Final = ("Anna", "José", "Zoë", "Peter", "Maria", "Łukasz", "Søren", "Tom", "Eve", "Ida")
_LAST: Final = ("Rossi", "Müller", "Smith", "Novák", "Jensen", "Costa", "Weber", "Moore", "Silva", "Berg")
_TABLES: Final = """
CREATE TABLE whatsmeow_device (jid TEXT PRIMARY KEY, lid TEXT, push_name TEXT NOT NULL DEFAULT '');
CREATE TABLE whatsmeow_contacts (our_jid TEXT, their_jid TEXT, first_name TEXT, full_name TEXT,
    push_name TEXT, business_name TEXT, PRIMARY KEY (our_jid, their_jid));
CREATE TABLE whatsmeow_lid_map (lid TEXT PRIMARY KEY, pn TEXT UNIQUE NOT NULL);
"""


class _Session:
    """What a wire reads from a session file, and groups that WhatsApp has given."""

    def __init__(self, path: Path) -> None:
        self._file = SessionFile(path)

    async def me(self) -> Me | None:
        return self._file.me()

    async def contacts(self) -> list[Contact]:
        return self._file.contacts()

    async def groups(self) -> list[GroupRow]:
        return [GroupRow(id=f"1203630000000{n:05}@g.us", name=f"Group {n}") for n in range(_GROUPS)]

    async def number_of(self, lid: str) -> str:
        return self._file.number_of(lid)

    async def lid_of(self, number: str) -> str:
        return self._file.lid_of(number)


def _make(path: Path, contacts: int) -> None:
    """A session with so many contacts."""
    people = contacts * 2 // 3
    with apsw.Connection(str(path)) as db:
        db.execute(_TABLES)
        db.execute("INSERT INTO whatsmeow_device VALUES (?, '', 'Me')", (f"{_OWN}@s.whatsapp.net",))
        for n in range(people):
            number, lid = f"{15_551_000_000 + n}", f"{77_000_000_000_000 + n * 7}"
            first, last = _FIRST[n % 10], _LAST[n // 10 % 10]
            name = f"Person {n}" if n % 100 == 7 else f"{first} {last} {n}"
            _contact(db, f"{number}@s.whatsapp.net", first, name, f"{first.lower()}{n}")
            if n % 2:
                _contact(db, f"{lid}@lid", "", "", f"{first.lower()}{n}")
                db.execute("INSERT INTO whatsmeow_lid_map VALUES (?, ?)", (lid, number))


def _contact(db: apsw.Connection, jid: str, first: str, full: str, push: str) -> None:
    row = (f"{_OWN}@s.whatsapp.net", jid, first, full, push)
    db.execute("INSERT INTO whatsmeow_contacts VALUES (?, ?, ?, ?, ?, '')", row)


def _calls(wire: WhatsAppWire) -> tuple[Call, ...]:
    """One of each of KINDS."""
    clock = SystemClock()
    finding = Finding(Directory(wire, lambda _: False, clock), lambda: None, clock)
    return (
        wire.contacts,
        lambda: finding.find("person 7"),
        lambda: finding.find("rossi"),
        lambda: finding.find("e"),
    )


async def measure(scale: Scale) -> list[Figure]:
    """The figures of one run."""
    rounds: list[list[float]] = []
    first: list[float] = []
    with tempfile.TemporaryDirectory(prefix="onechat-bench-") as folder:
        path = Path(folder) / "session.db"
        _make(path, scale.contacts)
        known = len(SessionFile(path).contacts())
        for _ in range(scale.rounds):
            folded.cache_clear()
            calls = _calls(cast(WhatsAppWire, _Session(path)))
            first.append(await time_of(calls[1]))
            times = [[await time_of(call) for call in calls] for _ in range(1 + scale.calls // 10)]
            rounds.append([statistics.median(taken) for taken in zip(*times, strict=True)])
    read, *finds = (list(taken) for taken in zip(*rounds, strict=True))
    figures = [
        figure("contacts in the session", [known], ""),
        milliseconds(f"baseline: {KINDS[0]}", read),
        milliseconds("the first find", first),
    ]
    for kind, taken in zip(KINDS[1:], finds, strict=True):
        figures += [
            milliseconds(kind, taken, at_most_ms=AT_MOST_MS),
            ratio("the same, of reading them", taken, read),
        ]
    return figures
