"""Named places at which a forked service ends itself by SIGKILL: just before or after the nth call of a step.

Only the fork server installs one, in the child, before the service's `main`; the product knows nothing of it.
A step is an asynchronous method, named `module:Class.method`; for a store's write, after means committed.
"""

import os
import signal
from dataclasses import asdict, dataclass
from importlib import import_module
from itertools import count
from typing import Any, Final, Literal

COMMIT: Final = "onechat_runtime.store:Store.write"
APPEND: Final = "onechat_agent.adapters.memory:MemoryClient.append"
ASK: Final = "onechat_agent.model.call:ModelClient.respond"


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

    def to_json(self) -> dict[str, Any]:
        """As the fork server gets it."""
        return asdict(self)


def install(point: Point) -> None:
    """Have this process kill itself there."""
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


def die() -> None:
    """End as a power cut would."""
    os.kill(os.getpid(), signal.SIGKILL)
