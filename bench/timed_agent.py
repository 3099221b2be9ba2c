"""The agent service as a process that notes how long its turns wait for what.

    python -m bench.timed_agent FILE

FILE gets a JSON line for each turn (`turn`) and for each wait within one, or while a delivery is accepted:
for the store (`store`), the memory service (`memory`) or an answer of the model (`model`). Each has the
monotonic clock at its begin and end, in seconds, which all processes of a machine share. Beside that it is
the service as it is. What is made of the lines: agent_turn.py.
"""

import contextvars
import functools
import inspect
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

from onechat_agent.__main__ import main
from onechat_agent.adapters.memory import MemoryClient
from onechat_agent.model.call import ModelClient
from onechat_agent.queue import Queue
from onechat_agent.turn import TurnAtWork
from onechat_runtime.store import Store

STORE: Final = "store"
MEMORY: Final = "memory"
MODEL: Final = "model"
TURN: Final = "turn"
_within: contextvars.ContextVar[bool] = contextvars.ContextVar("within", default=False)
_outer: contextvars.ContextVar[bool] = contextvars.ContextVar("outer", default=True)

Note = Callable[[str, float], None]


def note_into(path: str) -> None:
    """From now on this process writes down its waits."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def note(what: str, began_s: float) -> None:
        line = {"what": what, "began_s": began_s, "ended_s": time.monotonic()}
        os.write(file, json.dumps(line).encode() + b"\n")

    _time(Store, "write", STORE, note)
    _time(Store, "read", STORE, note)
    _time(ModelClient, "respond", MODEL, note)
    for name, _ in inspect.getmembers(MemoryClient, inspect.isfunction):
        if not name.startswith("_"):
            _time(MemoryClient, name, MEMORY, note)
    _mark(Queue, "accept")
    _mark(TurnAtWork, "run", functools.partial(note, TURN))


def _mark(owner: type, name: str, ended: Callable[[float], None] = lambda began_s: None) -> None:
    """What is at work within the method is a turn's; `ended` hears when that began."""
    original = getattr(owner, name)

    async def marked(self: Any, *args: Any, **fields: Any) -> Any:
        token, began_s = _within.set(True), time.monotonic()
        try:
            return await original(self, *args, **fields)
        finally:
            ended(began_s)
            _within.reset(token)

    setattr(owner, name, marked)


def _time(owner: type, name: str, what: str, note: Note) -> None:
    """Note each outermost wait for the method within a turn."""
    original = getattr(owner, name)
    if inspect.isasyncgenfunction(original):
        setattr(owner, name, _timed_stream(original, what, note))
    elif inspect.iscoroutinefunction(original):
        setattr(owner, name, _timed_call(original, what, note))
    else:
        setattr(owner, name, _timed_function(original, what, note))


def _timed_call(original: Any, what: str, note: Note) -> Any:
    async def timed(self: Any, *args: Any, **fields: Any) -> Any:
        if not (_within.get() and _outer.get()):
            return await original(self, *args, **fields)
        token, began_s = _outer.set(False), time.monotonic()
        try:
            return await original(self, *args, **fields)
        finally:
            _outer.reset(token)
            note(what, began_s)

    return timed


def _timed_function(original: Any, what: str, note: Note) -> Any:
    def timed(self: Any, *args: Any, **fields: Any) -> Any:
        if not (_within.get() and _outer.get()):
            return original(self, *args, **fields)
        began_s = time.monotonic()
        try:
            return original(self, *args, **fields)
        finally:
            note(what, began_s)

    return timed


def _timed_stream(original: Any, what: str, note: Note) -> Any:
    async def timed(self: Any, *args: Any, **fields: Any) -> AsyncIterator[Any]:
        began_s = time.monotonic()
        async for item in original(self, *args, **fields):
            yield item
        if _within.get() and _outer.get():
            note(what, began_s)

    return timed


if __name__ == "__main__":
    note_into(sys.argv.pop(1))
    sys.exit(main())
