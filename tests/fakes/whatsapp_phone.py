"""A phone with WhatsApp to play with: all five services, and an account whose owner and friends you are.

    .venv/bin/python -m tests.fakes.whatsapp_phone [--data FOLDER] [--real-model]

runs what `onechat up --demo` runs, but with this account in the library's place, and takes lines from you;
`help` lists them. Open the chat in another terminal: `onechat chat` with the same ONECHAT_DATA. The account
has an address book from the start (Bob, Cat), two groups (Garden, Cars & Bob's), and is not linked:
`/whatsapp pair +1 555 000 1111` in the chat, then `type` here.
"""

import argparse
import asyncio
import os
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from onechat_cli.commands.up import up
from onechat_cli.config import SERVICES, CliSettings
from onechat_runtime.settings import load
from onechat_whatsapp.wire.events import Heard
from onechat_whatsapp.wire.ports import NotSent, OutcomeUnknown
from onechat_whatsapp.wire.session_file import SessionFile

from tests.fakes.whatsapp_account import OWNER, WhatsAppAccount
from tests.fakes.whatsapp_desk import account_of_ann
from tests.fakes.whatsapp_scripts import BOB, CARS, CAT, GARDEN, heard, own, undecryptable
from tests.fakes.whatsapp_stage import WORLD
from tests.fakes.whatsapp_world import world_at

FRIENDS = {"bob": BOB, "cat": CAT}
GROUPS = {"garden": GARDEN, "cars": CARS}
HELP = """\
type                       type the pairing code in on the phone
passkey, timeout, outdate  end the pairing like this (outdate: or the link)
bob TEXT, cat TEXT         a private message; @you in it is the owner's mention
garden bob TEXT            a message to a group: garden or cars
me bob TEXT                the owner writes to bob, cat, garden or cars on the phone
lost bob                   a message without a key
drop, take-up              break the connection; the library takes it up again
out, replace, ban SECONDS  the phone removes the device; another session; a ban
crash                      end the child process as a fault of the library does
unreachable N              the next N attempts to connect fail
no-code WORDS              no pairing code: why, as the library says it; nothing: codes again
unsent, unknown            what becomes of the next send
sent                       what has left
help                       this list"""


class Phone:
    """What a line does to the account."""

    def __init__(self, account: WhatsAppAccount, crash: Callable[[], None]) -> None:
        self._account = account
        self._acts: dict[str, Callable[[str], object]] = {
            "type": lambda _: account.type_code(),
            "passkey": lambda _: account.end_pairing("passkey-request"),
            "timeout": lambda _: account.end_pairing("timeout"),
            "outdate": lambda _: account.outdate(),
            "me": self._own,
            "lost": self._lost,
            "drop": lambda _: account.drop(),
            "take-up": lambda _: account.take_up(),
            "out": lambda _: account.log_out(),
            "replace": lambda _: account.replace(),
            "ban": lambda seconds: account.ban(expire_s=int(seconds or 3600)),
            "crash": lambda _: crash(),
            "unreachable": self._unreachable,
            "no-code": lambda words: setattr(account, "pairing_fault", words),
            "unsent": lambda _: account.send_faults.append(NotSent("refused", offline=False)),
            "unknown": lambda _: account.send_faults.append(OutcomeUnknown("timed out")),
            "sent": lambda _: "\n".join(f"{each.chat}: {each.text}" for each in account.sent) or "nothing",
            "help": lambda _: HELP,
        }

    def do(self, line: str) -> str:
        """Do what `line` says; what there is to show of it."""
        word, _, rest = line.strip().partition(" ")
        act = self._acts.get(word)
        if act is not None:
            shown = act(rest.strip())
            return shown if isinstance(shown, str) else "done"
        if word in FRIENDS:
            self._account.come(_by(FRIENDS[word], FRIENDS[word], rest))
        elif word in GROUPS:
            who, _, text = rest.partition(" ")
            self._account.come(_by(FRIENDS[who], GROUPS[word], text))
        else:
            return HELP
        return "done"

    def _own(self, rest: str) -> None:
        chat, _, text = rest.partition(" ")
        self._account.come(replace(own(text, chat=(FRIENDS | GROUPS)[chat]), time=_now()))

    def _lost(self, who: str) -> None:
        self._account.come(replace(undecryptable(chat=FRIENDS[who]), time=_now()))

    def _unreachable(self, times: str) -> None:
        self._account.dial_faults = deque(["failed to dial"] * int(times or 1))


def _by(sender: str, chat: str, text: str) -> Heard:
    """What `sender` writes now; "@you" mentions the owner as the phone does."""
    number = OWNER.number.partition("@")[0]
    mentions = (OWNER.number,) if "@you" in text else ()
    name = next(name for name, jid in FRIENDS.items() if jid == sender).title()
    said = heard(
        text.replace("@you", f"@{number}"), chat=chat, sender=sender, mentions=mentions, push_name=name
    )
    return replace(said, time=_now(), message_id=_id())


def _now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)


def _id() -> str:
    return f"3EB0{os.urandom(8).hex().upper()}"


async def _lines(phone: Phone) -> None:
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        try:
            print(phone.do(line.decode()), flush=True)
        except (AssertionError, KeyError, ValueError) as wrong:
            print(f"{type(wrong).__name__} {wrong}: `help` lists what there is", flush=True)


async def play(data: Path, *, demo: bool) -> None:
    """Run the services on `data`, with the account, until told to end."""
    session = data / "whatsapp" / "session.db"
    session.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    account = account_of_ann()
    account.me = OWNER if SessionFile(session).is_linked() else None
    async with world_at(session, account) as (world, socket):
        reading = asyncio.create_task(_lines(Phone(account, world.crash)))
        environ = {**os.environ, "ONECHAT_DATA": str(data), WORLD: str(socket)}
        modules = {name: f"onechat_{name}" for name in SERVICES} | {"whatsapp": "tests.fakes.whatsapp_stage"}
        try:
            await up(load(CliSettings, environ), environ, environ, demo=demo, modules=modules)
        finally:
            reading.cancel()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("ONECHAT_DATA", "data")))
    parser.add_argument("--real-model", action="store_true", help="not the demo model")
    arguments = parser.parse_args()
    os.umask(0o077)
    asyncio.run(play(arguments.data.resolve(), demo=not arguments.real_model))


if __name__ == "__main__":
    main()
