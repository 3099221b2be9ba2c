"""What is said in groups and to their members in private: the agent's answers and the gateway's own lines."""

from onechat_runtime.clock import Clock
from onechat_runtime.store import Store

from onechat_telegram.groups import heard_rows, rows
from onechat_telegram.groups.domain.group import GroupState
from onechat_telegram.groups.domain.ids import MessageKey, Source, key_of_own
from onechat_telegram.groups.domain.messages import Place
from onechat_telegram.groups.domain.wording import own_line
from onechat_telegram.groups.ports import Adapter


class GroupReplies:
    """Answers of group agents on their way to the platform."""

    def __init__(self, adapter: Adapter, store: Store, clock: Clock) -> None:
        self._adapter = adapter
        self._store = store
        self._clock = clock

    async def say(self, key: MessageKey, source: Source, place: Place, text: str) -> None:
        """Say what the agent of the group `source` answered to the message at `place`, as it was delivered.

        Nothing is said for a group that we have left, nor an empty text. Once for each key.
        """
        group = self._store.read(lambda db: rows.group_of_source(db, source))
        if group is None or group.state is not GroupState.ADMITTED or not text.strip():
            return
        place = self._store.read(lambda db: rows.place_now(db, place))
        await self._adapter.reply(key, place, text)
        if place.chat == group.chat:
            now, line = self._clock.now(), own_line(text)
            await self._store.write(
                lambda db: heard_rows.note(db, key_of_own(key), place.chat, place.thread, line, now, own=True)
            )
