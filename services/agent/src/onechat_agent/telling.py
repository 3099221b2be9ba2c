"""What onechat itself tells the user about the model and the memory: once per cause, until a call succeeds.

The status shows what is wrong as a trouble as long. The sentences are sentences.py's. Times are seconds.
"""

from typing import Final

from onechat_runtime.clock import Clock
from onechat_runtime.health import HealthBoard
from onechat_runtime.store import Store

from onechat_agent import sentences
from onechat_agent.domain.delivery import TurnId
from onechat_agent.domain.events import USER_AUDIENCE, NewEvent, Noticed
from onechat_agent.events import Events
from onechat_agent.model.failures import ModelFailure
from onechat_agent.patience import committed
from onechat_agent.seat import Seat

UNREACHABLE_AFTER_S: Final = 60.0  # a shorter outage is nobody's business
HOPELESS_S: Final = 300.0  # after a failure that lasts: until it is tried again for others' messages
_UNREACHABLE: Final = "unreachable"
_TROUBLE: Final = "model"


class Telling:
    """Which causes have been told since the last success; shared by all turns and the compactor."""

    def __init__(self, store: Store, events: Events, clock: Clock, board: HealthBoard) -> None:
        self._store = store
        self._events = events
        self._clock = clock
        self._board = board
        self._told: set[str] = set()
        self._hopeless_until_s: float | None = None
        self._memory_told = False

    def first_time(self, cause: str, failure: ModelFailure) -> bool:
        """Whether `cause` has not been told since a call succeeded; from now on it has, by `failure`."""
        self._board.trouble(_TROUBLE, failure.sentence)
        if failure.lasting:
            self._hopeless_until_s = self._clock.monotonic() + HOPELESS_S
        if cause in self._told:
            return False
        self._told.add(cause)
        return True

    @property
    def is_hopeless(self) -> bool:
        """Whether a call has just failed for a cause that lasts until somebody acts, such as a bad key.

        For a while only, so that what comes from outside has its turns again once somebody has acted.
        """
        return self._hopeless_until_s is not None and self._clock.monotonic() < self._hopeless_until_s

    def succeeded(self) -> None:
        """A call to the model worked: whatever fails next is news again."""
        self._board.clear(_TROUBLE)
        self._hopeless_until_s = None
        self._told.clear()

    async def unreachable(self, seat: Seat, turn: TurnId | None, failure: ModelFailure) -> None:
        """Tells that a model is away for over a minute, and that nothing is lost by it."""
        if self.first_time(_UNREACHABLE, failure):
            await self.notice(seat, turn, sentences.KEPT_UNTIL_REACHABLE.format(cause=failure.sentence))

    async def memory_away(self, seat: Seat) -> None:
        """Tells that an agent waits for the memory for over a minute; the status knows more of it."""
        if not self._memory_told:
            self._memory_told = True
            await self.notice(seat, None, sentences.MEMORY_AWAY)

    def memory_answered(self) -> None:
        """Something was put into the memory: its next outage is news again."""
        self._memory_told = False

    async def notice(
        self, seat: Seat, turn: TurnId | None, text: str, *, audience: str = USER_AUDIENCE
    ) -> None:
        """A sentence to the user, kept as an event; or to the `audience` named.

        What is wrong with model, memory and settings is the user's to mend, and no group's affair.
        """
        event = NewEvent(
            agent=seat.id,
            agent_name=seat.name,
            audience=audience,
            turn=turn,
            time=self._clock.now(),
            body=Noticed(text=text),
        )
        await committed(self._store, self._clock, lambda db: self._events.keep(db, event))
