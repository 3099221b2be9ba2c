"""Notices to the user: kept with the change that they tell of, then handed to the agent service for ever.

What they say: domain/notices.py and domain/silence.py.
"""

from typing import Final, Protocol

import apsw
from onechat_runtime.clock import Clock
from onechat_runtime.outbox import Outbox, Sender

from onechat_whatsapp.domain.notices import Notice

KIND: Final = "notice"


class TellsUser(Protocol):
    """The agent service, as far as it shows something to the user."""

    async def tell_user(self, key: str, text: str) -> None:
        """Show `text` in every client; a known `key` tells nothing again. Raises RemoteError."""


class Notices:
    """Puts notices in the outbox, in the caller's transaction, in one lane so that their order stays."""

    def __init__(self, outbox: Outbox, clock: Clock) -> None:
        self._outbox = outbox
        self._clock = clock

    def put(self, db: apsw.Connection, notice: Notice) -> None:
        """Tell `notice`, unless one of its key waits already."""
        self._outbox.put(
            db, kind=KIND, key=notice.key, body=notice.text.encode(), lane=KIND, now=self._clock.now()
        )


def notice_sender(agent: TellsUser) -> Sender:
    """What hands over KIND, for the outbox."""

    async def hand_over(key: str, body: bytes) -> bytes | None:
        await agent.tell_user(key, body.decode())
        return None

    return hand_over
