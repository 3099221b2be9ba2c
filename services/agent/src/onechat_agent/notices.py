"""What a gateway has found out and the user should hear, in every client: kept once under its key.

It starts no turn and no model reads it. What onechat itself tells of model and memory: telling.py.
"""

import hashlib
import re
from typing import Final

import apsw
from onechat_runtime.clock import Clock
from onechat_runtime.request_ids import once
from onechat_runtime.store import Store

from onechat_agent.adapters import agent_rows
from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.events import NewEvent, Noticed
from onechat_agent.errors import NoticeInvalid
from onechat_agent.events import Events

TEXT_MAX: Final = 2_000  # characters; the contract's
_KEY: Final = re.compile(r"[ -~]{1,200}")


class Notices:
    """Notices of gateways, in the root's name."""

    def __init__(self, store: Store, clock: Clock, events: Events, root: AgentId) -> None:
        self._store = store
        self._clock = clock
        self._events = events
        self._root = root

    async def tell(self, caller: str, key: str, text: str) -> None:
        """Tells the user `text`; a `key` that `caller` has used before tells nothing again, whatever it says.

        It is on disk when this returns. Raises NoticeInvalid, StoreFull.
        """
        if not _KEY.fullmatch(key) or not text.strip() or len(text) > TEXT_MAX:
            raise NoticeInvalid

        def keep(db: apsw.Connection) -> bytes:
            event = NewEvent(
                agent=self._root,
                agent_name=agent_rows.name_of(db, self._root),
                time=self._clock.now(),
                body=Noticed(text=text),
            )
            self._events.keep(db, event)
            return b""

        def job(db: apsw.Connection) -> None:
            # A digest, so that none is a request id of another call, nor too long for one.
            request_id = "notice:" + hashlib.sha256(f"{caller}\0{key}".encode()).hexdigest()
            once(
                db,
                request_id=request_id,
                body=b"TellUser",
                now=self._clock.now(),
                answer=lambda: keep(db),
            )

        await self._store.write(job)
