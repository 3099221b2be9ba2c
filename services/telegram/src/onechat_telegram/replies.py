"""What the agents say, taken from their events as pieces on disk. Sending them: sending.py.

The pieces of an event and the place in the events are stored in one transaction, so each event is taken
once. A first subscription begins with what comes after it.
"""

import asyncio
import random
from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import Final

import apsw
from onechat_runtime import logs
from onechat_runtime.clock import Clock
from onechat_runtime.errors import RemoteError, StoreFull
from onechat_runtime.steps import Reached
from onechat_runtime.store import Store

from onechat_telegram.adapters import piece_store
from onechat_telegram.adapters.agent_events import AgentEvents
from onechat_telegram.adapters.markdown import render
from onechat_telegram.domain.bot_errors import NotReached, delay_after
from onechat_telegram.domain.events import (
    AgentEvent,
    EventsMissed,
    NotShown,
    Opened,
    PictureShown,
    ProposalAnswered,
    Proposed,
    Said,
    TextCame,
    TextVoid,
    TurnBegan,
    TurnOver,
)
from onechat_telegram.domain.ids import private_chat_of
from onechat_telegram.domain.outgoing import EventPlace, Spot
from onechat_telegram.domain.pieces import Piece, picture_pieces_of, pieces_of
from onechat_telegram.domain.proposals import outcome_piece, question_pieces
from onechat_telegram.domain.wording import ANOTHER_STORE, MISSED
from onechat_telegram.drafts import Drafts
from onechat_telegram.ownership import Ownership
from onechat_telegram.typing_sign import TypingSign

_SPREAD: Final = (0.8, 1.2)

#: In the transaction at work: where a text of a group's agent, of that key and meant for that spot, is said
#: now; None for nowhere, such as a group that the bot has left.
SpotNow = Callable[[apsw.Connection, str, Spot, str], Spot | None]

log = logs.get("onechat_telegram.replies")


class Replies:
    """Follows the agents' events for the owner's chat and for groups."""

    def __init__(
        self,
        events: AgentEvents,
        store: Store,
        ownership: Ownership,
        typing: TypingSign,
        drafts: Drafts,
        clock: Clock,
        rng: random.Random,
        reached: Reached,
        spot_now: SpotNow = lambda db, key, spot, text: spot,
    ) -> None:
        self._events = events
        self._store = store
        self._ownership = ownership
        self._typing = typing
        self._drafts = drafts
        self._clock = clock
        self._rng = rng
        self._reached = reached
        self._spot_now = spot_now
        self._followed = asyncio.Event()
        self._noticed: dict[str, str] = {}  #: of turns at work, what was last said
        self.added = asyncio.Event()  #: there may be pieces to send

    async def followed(self) -> None:
        """Return once the place in the events is on disk, from where nothing is missed."""
        await self._followed.wait()

    def look_when_committed(self) -> None:
        """Have pieces that the transaction at work adds seen by the sender."""
        self._store.when_committed(self.added.set)

    async def run(self) -> None:
        """Follow until cancelled, from when the bot has an owner."""
        await self._ownership.wait_known()
        failures = 0
        while True:
            place = self._store.read(piece_store.place)
            if place is not None:
                self._followed.set()
            try:
                async with aclosing(self._events.follow(place)) as events:
                    async for event in events:
                        failures = 0
                        await self._take(event, first=place is None)
            except EventsMissed as missed:
                await self._go_on_from(missed.before_oldest, place)
            except (RemoteError, StoreFull) as error:
                log.info("events_ended", error=type(error).__name__)
            self._typing.forget()
            self._drafts.forget()
            failures += 1
            delay_s = delay_after(failures, NotReached(), self._rng.uniform(*_SPREAD))
            await self._clock.sleep(delay_s)

    async def _take(self, event: AgentEvent, *, first: bool) -> None:
        match event:
            case Opened():
                if first:
                    await self._store.write(lambda db: piece_store.set_place(db, event.place))
                    self._followed.set()
            case Said():
                self._noticed[event.turn] = event.text
                await self._say(event.place, event.text, event.spot)
            case PictureShown():
                pieces = await asyncio.to_thread(picture_pieces_of, event.image, event.caption, render)
                text = event.caption or f"[image {event.image}]"
                await self._keep(event.place, pieces, event.spot, text)
            case Proposed():
                await self._keep(event.place, question_pieces(event.question, event.text))
            case ProposalAnswered():
                ended = outcome_piece(event.question, event.text, event.agent, event.state, event.outcome)
                await self._keep(event.place, (ended,))
            case TurnBegan():
                self._typing.begin(event.turn)
                self._drafts.begin(event.turn)
            case TurnOver():
                self._typing.end(event.turn)
                self._drafts.end(event.turn)
                said = self._noticed.pop(event.turn, "")
                # A notice may have said already why there is no reply.
                await self._say(event.place, event.failure if event.failure != said else "", event.spot)
            case TextCame():
                self._drafts.came(event.turn, event.step, event.offset, event.text)
            case TextVoid():
                self._drafts.void(event.turn, event.step)
            case NotShown():
                pass  # taken with the next that is shown

    async def _say(self, place: EventPlace, text: str, spot: Spot | None) -> None:
        # Aside: a long reply takes seconds, in which updates and probes must be answered.
        await self._keep(place, await asyncio.to_thread(pieces_of, text, render), spot, text)

    async def _keep(
        self, place: EventPlace, pieces: Sequence[Piece], spot: Spot | None = None, text: str = ""
    ) -> None:
        """Take the event at `place` with its pieces: for `spot`, without one for the owner's chat."""
        owner = await self._ownership.wait_known()
        self._reached("taking")
        now = self._clock.now()

        def add(db: apsw.Connection) -> None:
            to: Spot | None = Spot(chat=private_chat_of(owner), answers=None, topic=None)
            if spot is not None:
                to = self._spot_now(db, f"event:{place.stream}:{place.number}", spot, text)
            if to is None:
                piece_store.set_place(db, place)
            else:
                piece_store.add_event(db, place, to.chat, pieces, now, answers=to.answers, topic=to.topic)

        await self._store.write(add)
        self._reached("taken")
        self.added.set()

    async def _go_on_from(self, before_oldest: EventPlace, place: EventPlace | None) -> None:
        """Say what was missed, and go on with what is kept; of another store, with what comes from now on."""
        log.warning("events_missed", oldest=before_oldest.number)
        same = place is not None and place.stream == before_oldest.stream
        owner = await self._ownership.wait_known()
        pieces = pieces_of(MISSED if same else ANOTHER_STORE, render)
        now = self._clock.now()
        chat = private_chat_of(owner)
        if same:
            await self._store.write(lambda db: piece_store.add_event(db, before_oldest, chat, pieces, now))
        else:
            origin = f"another:{before_oldest.stream}"
            await self._store.write(lambda db: piece_store.begin_anew(db, origin, chat, pieces, now))
        self.added.set()
