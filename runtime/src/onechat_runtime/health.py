"""What a service says of itself: whether it serves, which neighbours it misses, what troubles it has.

The board is a plain value that the health service, /healthz and ops.v1 show alike (health_service.py).
Troubles are sentences for a person; a service with troubles or without a neighbour still serves. Used from
the event loop's thread only.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from onechat_runtime.clock import Clock, SystemClock


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """Whether a service that this one calls answers."""

    serving: bool
    since: datetime  #: UTC; when it came or was last lost


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """Something that a person should look at."""

    sentence: str  #: what is wrong and what to do
    since: datetime  #: UTC


class HealthBoard:
    """The state that health answers show; `on_change` callbacks run after every change."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock: Clock = clock or SystemClock()
        self._serving = True
        self._neighbours: dict[str, Neighbour] = {}
        self._troubles: dict[str, Trouble] = {}
        self._remarks: dict[str, str] = {}
        self._listeners: list[Callable[[], None]] = []
        self._awaited: list[tuple[str, Callable[[], None]]] = []

    @property
    def serving(self) -> bool:
        """False once the service drains; then it never serves again."""
        return self._serving

    def drain(self) -> None:
        """Say that the service ends. Long waits should answer what they have."""
        self._serving = False
        self._changed()

    def neighbour(self, name: str, *, serving: bool) -> None:
        """Note whether the neighbour `name` serves; `since` moves only when that changes."""
        known = self._neighbours.get(name)
        if known is None or known.serving != serving:
            self._neighbours[name] = Neighbour(serving=serving, since=self._clock.now())
            self._changed()
            for awaited, call in self._awaited:
                if serving and awaited == name:
                    call()

    def neighbours(self) -> Mapping[str, Neighbour]:
        """Every neighbour that is watched, by name."""
        return dict(self._neighbours)

    def trouble(self, key: str, sentence: str) -> None:
        """Show `sentence` under `key` until it is cleared; the same key replaces it and keeps its time."""
        known = self._troubles.get(key)
        if known is None or known.sentence != sentence:
            since = self._clock.now() if known is None else known.since
            self._troubles[key] = Trouble(sentence=sentence, since=since)
            self._changed()

    def clear(self, key: str) -> None:
        """The trouble `key` is over, if there was one."""
        if self._troubles.pop(key, None) is not None:
            self._changed()

    def troubles(self) -> Mapping[str, Trouble]:
        """Every trouble there is, by key, the oldest first."""
        return dict(self._troubles)

    def remark(self, key: str, sentence: str) -> None:
        """Say something that is not wrong, only so, such as "not linked"; "" takes it back."""
        if sentence == self._remarks.get(key, ""):
            return
        if sentence:
            self._remarks[key] = sentence
        else:
            self._remarks.pop(key, None)
        self._changed()

    def remarks(self) -> Mapping[str, str]:
        """Every remark there is, by key."""
        return dict(self._remarks)

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after every change; calling what is returned ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def on_serving(self, name: str, call: Callable[[], None]) -> None:
        """Call `call` each time the neighbour `name` begins to serve, the first time too."""
        self._awaited.append((name, call))

    def _changed(self) -> None:
        for listener in list(self._listeners):
            listener()
