"""What the owner is told of groups that the bot leaves unasked: of a few each hour, then that there are more.

Whoever likes may put the bot into any number of groups; the owner's chat is not theirs to fill. Which were
told of is not kept: a new process begins a new hour. Times are seconds.
"""

from typing import Final

from onechat_runtime import logs
from onechat_runtime.clock import Clock

from onechat_telegram.groups.domain import wording
from onechat_telegram.groups.domain.ids import MessageKey, key_of_line
from onechat_telegram.groups.ports import Owner

TOLD_MOST: Final = 5  # in an hour that begins with the first; one more line says that there are more
HOUR_S: Final = 3600.0

log = logs.get("onechat_telegram.groups")


class Departures:
    """Tells the owner."""

    def __init__(self, owner: Owner, clock: Clock) -> None:
        self._owner = owner
        self._clock = clock
        self._began = 0.0
        self._told: list[MessageKey] = []

    async def tell(self, key: MessageKey, line: str) -> None:
        """Say `line` of a group that is left because of `key`, if there was not too much of it already.

        The same `key` counts once, and is told of once.
        """
        now = self._clock.monotonic()
        if not self._told or now >= self._began + HOUR_S:
            self._began, self._told = now, []
        if key not in self._told and len(self._told) <= TOLD_MOST:
            self._told.append(key)
        if key not in self._told:
            log.info("group_left_untold", cause=key)
        elif self._told.index(key) < TOLD_MOST:
            await self._owner.tell(key_of_line(key), line)
        else:
            await self._owner.tell(key_of_line(key), wording.MORE_LEFT)
