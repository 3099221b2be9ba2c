"""Which calls go ahead and which wait, so that calls made together do not each pay for one prefix. Pure.

A provider keeps the start of a request once it has read it, and from then on reads it for a fraction of the
price; of calls that begin at the same moment each pays for all of it. So one goes ahead, and the others wait
until its stream has started. The one that sees most goes ahead: it reads each byte of the view once, and all
that the others see is kept when they begin. Behind one that sees less each would pay for the rest of its own
view, so there is no order that reads fewer bytes.

Sizes are UTF-8 bytes, times seconds of a monotonic clock. Where the calls wait: prefix_gate.py.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final, NewType

LIFETIME_S: Final = 300.0  # implicit caches forget after 5 to 10 minutes without use; a wait is cheap
WORTH: Final = 4096  # 1,024 tokens, the shortest prefix that is kept: less is not worth a wait
KEPT_MAX: Final = 64  # a batch of merges makes a new one; the oldest is of least use

CallId = NewType("CallId", int)


@dataclass(frozen=True, slots=True)
class Prefix:
    """What a call begins with, as far as other calls may share it."""

    cache: tuple[str, str]  #: the cache key and the model: nothing is shared between two of these
    parts: tuple[str, ...]  #: the head (tools, instructions), then the view's lines, oldest first
    ends: tuple[int, ...]  #: where each part ends

    @classmethod
    def of(cls, cache: tuple[str, str], parts: Iterable[str]) -> "Prefix":
        """The prefix of these parts."""
        kept = tuple(parts)
        return cls(cache, kept, tuple(accumulate(len(part.encode()) for part in kept)))

    @property
    def size(self) -> int:
        """The size of all parts."""
        return self.ends[-1] if self.ends else 0

    def shared(self, other: "Prefix") -> int:
        """The size of what both begin with."""
        if self.cache != other.cache:
            return 0
        count = 0
        for ours, theirs in zip(self.parts, other.parts, strict=False):
            if ours != theirs:
                break
            count += 1
        return self.ends[count - 1] if count else 0


@dataclass(slots=True)
class Prefixes:
    """The calls that wait, those on their way, and the prefixes that are kept by now."""

    _waiting: dict[CallId, Prefix] = field(default_factory=dict)
    _coming: dict[CallId, Prefix] = field(default_factory=dict)  # asked for, no stream yet
    _kept: list[tuple[Prefix, float]] = field(default_factory=list)  # with the time of the last use

    def ask(self, calls: Iterable[tuple[CallId, Prefix]], now: float) -> list[CallId]:
        """Calls that come together want to be made; which calls may be made now, not all of them these."""
        self._waiting.update(calls)
        return self._released(now)

    def started(self, call: CallId, now: float) -> list[CallId]:
        """The stream of `call` has started, so its prefix is kept; which calls may be made now."""
        prefix = self._coming.pop(call, None)
        if prefix is None:
            return []
        self._keep(prefix, now)
        return self._released(now)

    def ended(self, call: CallId, now: float) -> list[CallId]:
        """`call` is over, whatever became of it, or was never made; which calls may be made now.

        One that ended before its stream started has left nothing in the cache: the next one goes ahead.
        """
        self._waiting.pop(call, None)
        self._coming.pop(call, None)
        return self._released(now)

    def _released(self, now: float) -> list[CallId]:
        """Whom nothing holds any more, the one that sees most first; they are on their way from now on."""
        self._kept = [(prefix, used) for prefix, used in self._kept if now - used < LIFETIME_S]
        released = []
        for call, prefix in sorted(self._waiting.items(), key=lambda item: -item[1].size):
            if self._comes(prefix) - self._is_kept(prefix) < WORTH:
                del self._waiting[call]
                self._coming[call] = prefix
                released.append(call)
        return released

    def _comes(self, prefix: Prefix) -> int:
        """How much of `prefix` will be kept once the calls on their way have started."""
        return max((prefix.shared(other) for other in self._coming.values()), default=0)

    def _is_kept(self, prefix: Prefix) -> int:
        """How much of `prefix` is kept by now."""
        return max((prefix.shared(other) for other, _ in self._kept), default=0)

    def _keep(self, prefix: Prefix, now: float) -> None:
        """`prefix` was read just now; what it begins with was, too."""
        others = [(other, used) for other, used in self._kept if other.shared(prefix) < other.size]
        self._kept = [*others[-KEPT_MAX + 1 :], (prefix, now)]
