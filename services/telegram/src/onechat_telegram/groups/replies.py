"""What the agents of groups answer, on its way back to where it was asked.

A gateway that keeps its own pieces asks `place_to_say` in the transaction that keeps them; `say` is for one
that has the adapter alone.
"""

import apsw
from onechat_runtime.clock import Clock
from onechat_runtime.store import Store

from onechat_telegram.groups import heard_rows, rows
from onechat_telegram.groups.domain.group import GroupState
from onechat_telegram.groups.domain.ids import MessageKey, key_of_own
from onechat_telegram.groups.domain.messages import Place
from onechat_telegram.groups.domain.wording import own_line
from onechat_telegram.groups.ports import Adapter


class GroupReplies:
    """Answers of group agents on their way to the platform."""

    def __init__(self, adapter: Adapter, store: Store, clock: Clock) -> None:
        self._adapter = adapter
        self._store = store
        self._clock = clock

    def place_to_say(self, db: apsw.Connection, key: MessageKey, place: Place, text: str) -> Place | None:
        """Where to say `text` that answers what was delivered with `place`; None if it is not to be said.

        That is an empty text, or one for a group that we have left. What is said in a group is remembered
        for its detectors, once for each `key`.
        """
        place = rows.place_now(db, place)
        group = rows.group(db, place.chat)
        if not text.strip() or (group is not None and group.state is not GroupState.ADMITTED):
            return None
        if group is not None:
            line, now = own_line(text), self._clock.now()
            heard_rows.note(db, key_of_own(key), place.chat, place.thread, line, now, own=True)
        return place

    async def say(self, key: MessageKey, place: Place, text: str) -> None:
        """Say `text` where it belongs. Once for each key."""
        found = await self._store.write(lambda db: self.place_to_say(db, key, place, text))
        if found is not None:
            await self._adapter.reply(key, found, text)
