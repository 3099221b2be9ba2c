"""Five services with a linked account, their user, and what happens on WhatsApp while services are killed.

The account, WhatsApp and the clock are here and outlive the services. What is said: whatsapp_script.py; what
must hold afterwards: whatsapp_left.py. Times are seconds.
"""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import apsw
from onechat.agent.v1 import agent_service_pb2, event_pb2
from onechat_whatsapp.wire.events import Heard, Undecryptable

from tests.fakes.five_services import LOOK_S, SERVICES, FiveServices, Forks, five_services
from tests.fakes.five_services_chat import CALL_S, Chat, again, chatting
from tests.fakes.five_services_points import Point
from tests.fakes.pushed_clock import PushedClock
from tests.fakes.scripted_model import ScriptedModel
from tests.fakes.whatsapp_account import WhatsAppAccount
from tests.fakes.whatsapp_desk import account_of_ann
from tests.fakes.whatsapp_forked import CLOCK, WORLD
from tests.fakes.whatsapp_world import World, world_at
from tests.system.whatsapp_script import ASKED, MAKE, SENDS, WORD, Thing, answer_to, first_answers

WITHIN_S = 60.0
BATCH_S = 65.0  #: after which every batch is closed, and a gap between messages is one worth keeping
AGAIN_S = 10.0  #: after which a connection that failed was tried again
PUSH_S = 0.05  # how often time may pass
AWAY_S = 1.0  # without a connection; then time passes until it is tried again
PROPOSAL_ENDS = (
    event_pb2.PROPOSAL_STATE_DONE,
    event_pb2.PROPOSAL_STATE_FAILED,
    event_pb2.PROPOSAL_STATE_UNKNOWN,
)


class WhatsAppRun:
    """What a test does, and what it has done."""

    def __init__(
        self, services: FiveServices, chat: Chat, model: ScriptedModel, world: World, clock: PushedClock
    ) -> None:
        self.services = services
        self.chat = chat
        self.model = model
        self.world = world
        self.clock = clock
        self.said: list[Thing] = []
        self.lost: set[str] = set()  #: words that came to a child which was killed before they were stored
        self.sends_again: Callable[[], bool] = lambda: (
            True
        )  #: whether WhatsApp does what a dead child had got
        self._heard: set[str] = set()
        self._looked_at = 0
        world.left = self._child_ended
        model.script(*first_answers())

    @property
    def account(self) -> WhatsAppAccount:
        """The account."""
        return self.world.account

    async def open(self) -> None:
        """Begin undisturbed: House is there."""
        await self.services.start(*SERVICES)
        await self.chat.say(MAKE, key="said:make")
        await self.chat.all_done({"said:make"})
        await self._until(lambda: self.account.online)

    async def let_them_talk_all_day(self) -> None:
        """Put the agents' limit of a day far off."""
        for settings in (self.services.data / "agent" / "agents").glob("*/agent.toml"):
            settings.write_text(f"{settings.read_text()}\n[limits]\ntokens_per_day = 1000000000\n")
        await self.services.stop("agent")
        await self.services.start("agent")

    def write(self, things: Sequence[Thing]) -> None:
        """On WhatsApp these are written; they come at once, or once there is a connection."""
        for thing in things:
            self._know(thing)
            self.account.come(*thing.events(self.clock.now()))

    async def ask(self, thing: Thing) -> None:
        """The user asks for a send; returns once the turn has ended."""
        self._know(thing)
        key = f"said:{thing.word}"
        await self.chat.say(thing.text, key=key)
        await self.chat.until(lambda: self.chat.end_of(key) is not None, WITHIN_S)

    def cannot_read(self, thing: Thing) -> None:
        """It comes, and this device has no key for it; it is written later."""
        event = thing.events(self.clock.now())[0]
        self.account.come(
            Undecryptable(message_id=event.message_id, chat=event.chat, sender=event.sender, time=event.time)
        )

    async def done(self) -> None:
        """Return once all that was written was handed over, and everybody is done with it."""
        await self._until(lambda: not self._missing())
        await self.chat.all_done(set())
        await self._until(lambda: not self.open_proposals())
        await self.chat.all_done(set())

    async def online(self) -> None:
        """Return once the account is connected, or a while after nobody runs who could."""
        await self._until(lambda: self.account.online)

    def kill_child(self) -> None:
        """SIGKILL the process behind the wire, if one runs."""
        if self.account.dialled:
            os.kill(self.world.pid, signal.SIGKILL)

    def stored(self) -> set[str]:
        """The words of messages that are in the gateway's store."""
        store = self.services.data / "whatsapp" / "store.db"
        db = apsw.Connection(str(store), flags=apsw.SQLITE_OPEN_READONLY)
        db.set_busy_timeout(5_000)
        try:
            return {
                str(message).removeprefix("3EB0") for (message,) in db.execute("SELECT message FROM heard")
            }
        finally:
            db.close()

    def heard(self) -> set[str]:
        """The words that the agent service was handed over, as clients see them."""
        for event in self.chat.events[self._looked_at :]:
            if event.outside_message.source.startswith("whatsapp:"):
                self._heard |= set(WORD.findall(event.outside_message.text))
        self._looked_at = len(self.chat.events)
        return self._heard

    def open_proposals(self) -> set[int]:
        """The numbers of those that are not over."""
        changes = [event.proposal.proposal for event in self.chat.events if event.HasField("proposal")]
        return {one.number for one in changes} - {one.number for one in changes if one.state in PROPOSAL_ENDS}

    def _know(self, thing: Thing) -> None:
        self.said.append(thing)
        if thing.kind in SENDS:
            self.model.script(answer_to(thing))

    def _missing(self) -> set[str]:
        written = {thing.word for thing in self.said if thing.kind not in ASKED}
        return written - self.heard() - self.lost

    def _child_ended(self, child: int) -> None:
        """WhatsApp thinks that all it gave has arrived, or sends it again."""
        given = [event for number, event in self.world.given if number == child and isinstance(event, Heard)]
        if self.sends_again():
            self.account.come(*given)
        else:
            self.lost |= {event.message_id.removeprefix("3EB0") for event in given} - self.stored()

    async def _until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(WITHIN_S):
            while not condition():
                await asyncio.sleep(LOOK_S)

    async def _let_time_pass(self) -> None:
        """For ever: until batches close whose messages are stored, and connections are tried again."""
        away = time.monotonic()
        while True:
            await asyncio.sleep(PUSH_S)
            missing = self._missing()
            if self.account.online or not self.services.running("whatsapp"):
                away = time.monotonic()
            elif time.monotonic() - away > AWAY_S:
                self.clock.push(AGAIN_S)
            if missing and missing <= self.stored():
                self.clock.push(BATCH_S)

    async def _say_yes(self) -> None:
        """For ever: to whatever is proposed."""
        while True:
            for number in self.open_proposals():
                yes = agent_service_pb2.AnswerProposalRequest(
                    number=number, yes=True, request_id=f"yes:{number}"
                )
                await again(lambda: self.chat.agent().AnswerProposal(yes, timeout=CALL_S))  # noqa: B023
            self.chat.came.clear()
            await self.chat.came.wait()

    @asynccontextmanager
    async def living(self) -> AsyncIterator[None]:
        """Time passes meanwhile, and the user says yes."""
        tasks = [asyncio.ensure_future(self._let_time_pass()), asyncio.ensure_future(self._say_yes())]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            for ended in await asyncio.gather(*tasks, return_exceptions=True):
                if isinstance(ended, Exception):
                    raise ended


@asynccontextmanager
async def whatsapp_in(forks: Forks, folder: Path) -> AsyncIterator[WhatsAppRun]:
    """Five services on `folder` that are not started yet, whose account is linked."""
    home = folder / "data" / "whatsapp"
    home.mkdir(parents=True, mode=0o700)
    clock = PushedClock(folder / "clock")
    async with (
        world_at(home / "session.db", account_of_ann()) as (world, socket),
        ScriptedModel.serving() as model,
        five_services(
            forks,
            folder,
            OPENAI_BASE_URL=model.base_url,
            **{WORLD: str(socket), CLOCK: str(folder / "clock")},
        ) as services,
        chatting(services) as chat,
    ):
        run = WhatsAppRun(services, chat, model, world, clock)
        async with run.living():
            yield run
        world.left = lambda child: None


async def rise(run: WhatsAppRun, points: Sequence[Point]) -> None:
    """Have the whatsapp service, which does not run, be killed at each point and started anew."""
    for point in points:
        await run.services.start("whatsapp", point=point, ready=False)
        try:
            await run.services.killed("whatsapp", within_s=WITHIN_S)
        except TimeoutError:
            raise AssertionError(f"{point.words} was not reached") from None
    await run.services.start("whatsapp")


async def while_rising(rising: Awaitable[None], live: Callable[[], Awaitable[None]]) -> None:
    """Live, again and again, until `rising` is over, and once more. Raises as soon as either fails."""
    tasks = [asyncio.ensure_future(rising)]
    try:
        while not tasks[0].done():
            tasks[1:] = [asyncio.ensure_future(live())]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if tasks[0].done():
                await tasks[0]
            await tasks[1]
        await live()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
