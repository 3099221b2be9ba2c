"""Whatever is done to the service, in whatever order, it stands as the same done to plain lists.

Hypothesis makes up appends, lines, failures, views, restarts, undone and failed commits; after each step
every row and answer is compared with plain lists that keep the rules word for word: plain_memory.py.
"""

import asyncio
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count

import apsw
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from onechat_runtime.errors import ServiceError

from tests.fakes import plain_memory as plain
from tests.fakes.memory_beside_plain import LOGS, REST_S, BesidePlain

KINDS = ("user", "reply", "tool", "echo", "work", "note")
LETTERS = "abcé"
BRISK = 99  #: more than is ever ready
MESSAGES_MAX = 60  #: in a log, before another long text comes

Limits = tuple[int, int]


def text_of(length: int, letter: str, breaks: int) -> str:
    """A text of so many characters, with a line's end or a space now and then."""
    return "".join(letter if place % breaks else "\n "[place // breaks % 2] for place in range(1, length + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A message to be: a new one, one that was sent before, or another one under its key."""

    text: str
    kind: str
    again: int | None = None
    other: bool = False


logs = st.sampled_from(LOGS)
picks = st.integers(0, 999)  #: the pick-th of however many there are, counted round
kinds = st.sampled_from(KINDS)
letters = st.sampled_from(LETTERS)
lengths = st.one_of(st.integers(1, 60), st.integers(480, 540), st.integers(1, 1_300))
texts = st.builds(text_of, lengths, letters, st.sampled_from((7, 40, 9_999)))
long_texts = st.builds(
    text_of, st.integers(29_990, 95_000), letters, st.sampled_from((900, 6_500, 40_000, 200_000))
)
lines = st.builds(text_of, st.one_of(st.integers(1, 1_100), st.integers(200, 300)), letters, st.just(9))
news = st.builds(Sent, text=texts, kind=kinds)
agains = st.builds(Sent, text=texts, kind=kinds, again=picks, other=st.sampled_from((False, False, True)))
appends = st.lists(st.one_of(news, news, news, agains), min_size=1, max_size=9)
talks = st.lists(news, min_size=9, max_size=24)
paces = st.sampled_from((0, 1, 2, BRISK, BRISK, BRISK, BRISK))  #: lines built after each message
limits = st.sampled_from(
    ((2_400, 1_200), (1_500, 1_300), (800, 350), (600, 590), (300, 30), (1_200, 900), (2_000, 1_700))
)


def at(nodes: Sequence[plain.Node], pick: int) -> plain.Node:
    return nodes[pick % len(nodes)]


class Beside(BesidePlain, RuleBasedStateMachine):
    """What may be done, drawn by Hypothesis."""

    def __init__(self) -> None:
        super().__init__()
        self.keys = count()

    @initialize(views=st.lists(limits, min_size=4, max_size=4), sent=talks, line=lines)
    def begin(self, views: list[Limits], sent: Sequence[Sent], line: str) -> None:
        for log, both in zip(LOGS, (views[:2], views[2:]), strict=True):
            self.create(log, *both)
            self.talk(log, sent, BRISK, 0, line, False)

    def messages(self, log: str, sent: Sequence[Sent]) -> list[plain.Said]:
        made: list[plain.Said] = []
        for one in sent:
            known = [*self.said[log], *made]
            if one.again is None or not known:
                made.append(plain.Said(key=f"k{next(self.keys)}", kind=one.kind, text=one.text))
            else:
                old = known[one.again % len(known)]
                made.append(replace(old, text=f"{old.text}!") if one.other else old)
        return made

    @rule(log=logs, sent=appends)
    def append_some(self, log: str, sent: Sequence[Sent]) -> None:
        self.append(log, self.messages(log, sent))

    @rule(log=logs, text=long_texts, sent=st.lists(news, max_size=2))
    def append_a_long_text(self, log: str, text: str, sent: Sequence[Sent]) -> None:
        if len(self.plain[log].messages) < MESSAGES_MAX:
            self.append(log, self.messages(log, [*sent, Sent(text=text, kind="work")]))

    @rule(log=logs, sent=talks, pace=paces, order=picks, line=lines, views=st.booleans())
    def talk(self, log: str, sent: Sequence[Sent], pace: int, order: int, line: str, views: bool) -> None:
        """As turns and a compactor do; at a slow pace lines stay unbuilt, and batches are owed for them."""
        for one in sent:
            self.append(log, self.messages(log, [one]))
            for number in range(pace):
                nodes = self.plain[log].ready()
                if not nodes:
                    break
                self.complete(log, at(nodes, order * number), line[number % 50 :].strip() or "line")
            if views:
                self.view(log)

    @rule(log=logs, sent=st.lists(talks, min_size=2, max_size=2), line=lines)
    def talk_with_a_quick_compactor(self, log: str, sent: Sequence[Sequence[Sent]], line: str) -> None:
        for some in sent:
            self.talk(log, some, BRISK, 0, line, False)

    @rule(log=logs, pick=picks, line=lines)
    def build(self, log: str, pick: int, line: str) -> None:
        if nodes := [*self.plain[log].waiting(), *self.plain[log].merges()]:
            self.complete(log, at(nodes, pick), line)

    @rule(log=logs, level=st.integers(0, 7), pick=picks, line=st.one_of(lines, st.just(" \n ")))
    def build_anything(self, log: str, level: int, pick: int, line: str) -> None:
        nodes = [node for node in self.plain[log].nodes() if node[0] == level]
        self.complete(log, at([*nodes, (level, len(nodes)), (level, len(nodes) + 1)], pick), line)

    @rule(
        pick=picks, content=st.sampled_from((True, True, False)), times=st.integers(1, 3), rests=st.booleans()
    )
    def fail_some(self, pick: int, content: bool, times: int, rests: bool) -> None:
        for _ in range(times):
            self.fail(pick, content=content)
            if rests:
                self.clock.advance(REST_S)

    @rule(seconds=st.sampled_from((1, REST_S)))
    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @rule(log=logs)
    def read_the_view(self, log: str) -> None:
        self.view(log)

    @rule(clean=st.booleans())
    def be_started_again(self, clean: bool) -> None:
        self.compare_zooms()
        self.start_again(clean=clean)

    @rule(log=logs, sent=st.lists(news, min_size=1, max_size=9), room=st.integers(0, 14))
    def append_without_room(self, log: str, sent: Sequence[Sent], room: int) -> None:
        messages = self.messages(log, sent)

        async def act() -> None:
            await self.appended(log, messages)

        if self.done_in(room, act):
            self.plain[log].append(messages)
        self.append(log, messages)  # what was done is known, what was refused is done now

    @rule(log=logs, pick=picks, line=lines, room=st.integers(0, 14))
    def build_without_room(self, log: str, pick: int, line: str, room: int) -> None:
        node = at(self.plain[log].ready() or [(0, 0)], pick)

        async def act() -> None:
            await self.memory.complete(plain.name(node), line, log=log)

        if self.done_in(room, act):
            with suppress(plain.Refused):
                self.plain[log].complete(node, line, "test")
        self.complete(log, node, line)

    @rule(log=logs, room=st.integers(0, 14))
    def read_the_view_without_room(self, log: str, room: int) -> None:
        async def act() -> None:
            await self.memory.view(log)

        if self.done_in(room, act):
            self.plain[log].fit()
        self.view(log)

    def done_in(self, room: int, act: Callable) -> bool:
        """Whether it was done with room for so many writes; otherwise it was refused and nothing happened."""
        self.disk.room = room
        try:
            self.do(act())
        except ServiceError as refused:
            done = refused.reason != "STORE_FULL"
        else:
            done = True
        self.disk.room = None
        if not done:
            self.compare()
        return done

    @rule(log=logs, sent=st.lists(news, min_size=1, max_size=5))
    def undo_the_commit_of_an_append(self, log: str, sent: Sequence[Sent]) -> None:
        """It succeeds by itself; another job gives up the commit that they share."""
        with pytest.raises(ZeroDivisionError):
            self.do(self.shared_commit(log, self.messages(log, sent)))

    async def shared_commit(self, log: str, messages: Sequence[plain.Said]) -> None:
        store = self.memory.store
        at_work, held = threading.Event(), threading.Event()
        holder = asyncio.create_task(store.write(lambda db: at_work.set() or held.wait(10)))
        await asyncio.to_thread(at_work.wait, 10)
        appending = asyncio.create_task(self.appended(log, messages))
        for _ in range(5):  # until its job stands in the writer's queue
            await asyncio.sleep(0)
        breaking = asyncio.create_task(store.write(give_the_transaction_up))
        for _ in range(2):  # it begins, and its job is handed over
            await asyncio.sleep(0)
        held.set()
        await holder
        await asyncio.gather(breaking, return_exceptions=True)
        await appending

    @invariant()
    def stand_alike(self) -> None:
        self.compare()

    def teardown(self) -> None:
        self.compare_zooms()
        self.close()


def give_the_transaction_up(db: apsw.Connection) -> None:
    db.execute("ROLLBACK")
    raise ZeroDivisionError


def come_by_what_dice_come_by_seldom(beside: Beside) -> None:
    """Long texts with each kind of break, three failures of one node, rests, unbuilt lines over a restart."""
    log = LOGS[0]
    short, long = Sent(text=text_of(60, "a", 7), kind="user"), Sent(text=text_of(900, "b", 40), kind="tool")
    beside.begin(
        [(2_400, 1_200), (1_200, 900), (9_000, 8_000), (8_900, 8_000)],
        [short, long] * 9,
        text_of(280, "c", 9),
    )
    beside.compare()
    for node in ("leaf", "merge"):
        beside.append(log, beside.messages(log, [long] if node == "leaf" else [short, short]))
        for _ in range(plain.TRIES):
            beside.fail(0, content=True)
            beside.clock.advance(REST_S - 0.5)
            beside.compare()
            beside.clock.advance(0.5)
            beside.compare()
    beside.append(log, beside.messages(log, [short, long, short, long, *[short] * 6]))
    beside.compare()
    beside.start_again(clean=False)
    beside.append(log, beside.messages(log, [long, short]))
    beside.compare()
    for breaks in (900, 6_500, 23_000, 26_000, 200_000):
        text = text_of(61_000, "é", breaks)
        beside.append(log, beside.messages(log, [Sent(text=text, kind="work")]))
        beside.append(log, [beside.said[log][-1]])
    beside.talk(log, [short] * 4, BRISK, 3, text_of(250, "d", 9), True)
    beside.compare()
    beside.compare_zooms()
    come_to_the_limit_after_a_restart(beside, LOGS[1])


def come_to_the_limit_after_a_restart(beside: Beside, log: str) -> None:
    """What an unbuilt line counts then decides with which message a batch begins."""
    beside.append(log, beside.messages(log, [Sent(text=text_of(700, "e", 40), kind="work")] * 3))
    beside.start_again(clean=True)
    known = beside.plain[log]
    while (room := known.chat.high - known.bytes_of(known.chat)) > 0:
        new = Sent(text=text_of(max(1, min(400, room - 200)), "f", 40), kind="user")
        beside.append(log, beside.messages(log, [new]))
        beside.compare()


def test_what_dice_come_by_seldom_is_done_as_plain_lists_do():
    beside = Beside()
    try:
        come_by_what_dice_come_by_seldom(beside)
    finally:
        beside.close()


ANY = settings(deadline=None, database=None, suppress_health_check=list(HealthCheck))


@pytest.mark.timeout(300)
def test_whatever_is_done_the_service_stands_as_plain_lists_do():
    """The same steps in every run, so that a failure is the change's and not the dice's."""
    few = settings(ANY, max_examples=4, stateful_step_count=15, derandomize=True, phases=[Phase.generate])
    run_state_machine_as_test(Beside, settings=few)


@pytest.mark.soak
@pytest.mark.timeout(1_200)
def test_whatever_is_done_for_minutes_the_service_stands_as_plain_lists_do():
    """Other steps in each run; a failure is shrunk, which takes minutes more."""
    many = settings(ANY, max_examples=40, stateful_step_count=40, print_blob=True)
    run_state_machine_as_test(Beside, settings=many)
