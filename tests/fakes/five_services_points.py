r"""Named places at which a service ends itself by SIGKILL: just before or after the nth call of a step.

    CRASH_POINT='after commit of onechat_agent.turn_store.end 2' \
        python -m tests.fakes.five_services_points agent

The variable names a side, a step and a count from the process's start. A step is an asynchronous method,
named `module:Class.method`; for a store's write, after means committed. Or it is `commit of module.function`:
whatever that function hands to the store. Before then means inside the transaction, with all of it done, and
after means on disk and not yet answered. Or it is `place NAME`, one that the whatsapp service tells by
itself; its two sides are one. The product knows nothing of it: a point is put in before the service's `main`,
by the fork server or by the command above. Which ones there are: five_services_census.py.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import count
from types import FrameType
from typing import Any, Final, Literal, Self

import apsw
from onechat_runtime.store_writer import Writer

VARIABLE: Final = "CRASH_POINT"
COMMIT: Final = "onechat_runtime.store:Store.write"
APPEND: Final = "onechat_agent.adapters.memory:MemoryClient.append"
CREATE_LOG: Final = "onechat_agent.adapters.memory:MemoryClient.create_log"
ANSWER: Final = "onechat_agent.asking:Asking.answer"  # of a turn's step; ASK is of compactions too
DEPTH: Final = 40  # calls below the making of a task
COMMIT_OF: Final = "commit of "
PLACE: Final = "place "
ASK: Final = "onechat_agent.model.call:ModelClient.respond"
SEND: Final = "onechat_telegram.adapters.bot_sends:BotSends.send"

_waits_for: dict[str, int] = {}  # a place: after how many passes of it this process ends


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A place in the life of one process."""

    step: str
    side: Literal["before", "after"]
    nth: int  #: counted from the start of the process, from 1

    @property
    def name(self) -> str:
        """For people and for the names of tests."""
        return f"{self.side} {self.step.rpartition(':')[2]} {self.nth}"

    @property
    def words(self) -> str:
        """What the variable holds."""
        return f"{self.side} {self.step} {self.nth}"

    @classmethod
    def parse(cls, words: str) -> Self:
        """The point that `words` name. Raises ValueError."""
        side, _, rest = words.partition(" ")
        step, _, nth = rest.rpartition(" ")
        if side not in ("before", "after") or not step or int(nth) < 1:
            raise ValueError(f"{words!r} is no crash point: write a side, a step and a count")
        return cls(step=step, side="after" if side == "after" else "before", nth=int(nth))


def install_from(environ: MutableMapping[str, str]) -> None:
    """Put in the point that the variable names, if it does; the service never sees the variable."""
    words = environ.pop(VARIABLE, "")
    if words:
        install(Point.parse(words))


def install(point: Point) -> None:
    """Have this process kill itself there."""
    if point.step.startswith(COMMIT_OF):
        _install_in_writer(point, point.step.removeprefix(COMMIT_OF))
        return
    if point.step.startswith(PLACE):
        _waits_for[point.step.removeprefix(PLACE)] = point.nth
        return
    module, _, place = point.step.partition(":")
    owner_name, _, method = place.partition(".")
    owner = getattr(import_module(module), owner_name)
    original = getattr(owner, method)
    passed = count(1)

    async def counted(self: Any, *args: Any, **fields: Any) -> Any:
        here = next(passed) == point.nth
        if here and point.side == "before":
            die()
        result = await original(self, *args, **fields)
        if here:
            die()
        return result

    setattr(owner, method, counted)


def reached(place: str) -> None:
    """For a service that tells the places which it passes: this ends it at the one of its point."""
    if place in _waits_for:
        _waits_for[place] -= 1
        if _waits_for[place] == 0:
            die()


def _install_in_writer(point: Point, function: str) -> None:
    sys.set_coroutine_origin_tracking_depth(DEPTH)
    submit = Writer.submit
    passed = count(1)

    def counted(self: Writer, job: Any) -> Any:
        here = _is_made_in(function, job) or _is_within(function, sys._getframe(1))
        if not here or next(passed) != point.nth:
            return submit(self, job)
        if point.side == "after":
            committed = submit(self, job)
            committed.add_done_callback(lambda future: future.exception() or die())  # the first to hear of it
            return committed

        def killed(db: apsw.Connection) -> None:
            job(db)
            die()

        return submit(self, killed)

    setattr(Writer, "submit", counted)  # noqa: B010 - mypy would have it no other way


def _is_made_in(function: str, job: Any) -> bool:
    """Whether `job` is defined in the function: a task of its own may hand it over."""
    module, _, name = function.rpartition(".")
    return bool(job.__module__ == module and name in job.__qualname__.split("."))


def _is_within(function: str, frame: FrameType | None) -> bool:
    """Whether a function, named `module.function`, is at work below `frame`."""
    return any(f"{module}.{name}" == function for module, name in callers(frame))


def callers(frame: FrameType | None) -> Iterator[tuple[str, str]]:
    """(module, function) of `frame` and all below it, then of whoever made the task that is at work."""
    while frame is not None:
        yield str(frame.f_globals["__name__"]), frame.f_code.co_name
        frame = frame.f_back
    task = asyncio.current_task()
    made_at = getattr(task.get_coro(), "cr_origin", None) if task is not None else None
    for file, _, name in made_at or ():
        yield _module_of(file), name


@cache
def _module_of(file: str) -> str:
    """The module whose code lies in `file`; empty for none."""
    modules = tuple(sys.modules.items())  # others import meanwhile
    return next((name for name, one in modules if getattr(one, "__file__", None) == file), "")


def die() -> None:
    """End as a power cut would."""
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    install_from(os.environ)
    sys.exit(import_module(f"onechat_{sys.argv.pop(1)}.__main__").main())
