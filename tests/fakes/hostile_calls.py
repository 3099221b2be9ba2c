"""Tool calls as a confused model makes them: any tool, arguments that fit, nearly fit or are no JSON at all.

Seeded, so that a run that found something can be had again. Commands and paths are few and harmless: what the
shell can do is no question here.
"""

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tests.fakes.hostile import INTS, TEXTS
from tests.fakes.scripted_model import Call

SHORT: Final = tuple(text[:300] for text in TEXTS)  # each is logged, and a long one wants a line of a model
KNOWN: Final[Mapping[str, Sequence[Any]]] = {
    "id": (0, 1, 2, 8, 40, None),
    "n": (1, 2, 8, None),
    "page": (None, 0, 1, 10**6),
    "name": (None, "One", "One-1", "No One", "house", "H", ""),
    "command": (
        "true",
        "echo hi",
        "exit 3",
        "head -c 300 /dev/urandom",
        "printf '\\0'",
        "cd /nowhere",
        "(",
        "",
    ),
    "path": ("notes.txt", "a/b/c.txt", ".", "/", "a\x00b", "n" * 300, "../out.txt", "notes.txt/x", "", "~"),
    "text": ("some text", "", *SHORT),
    "old": ("some", "", "not there"),
    "new": ("other", ""),
    "tasks": ([], [""], "no list", [None]),
    "effort": (None, "low", "max", 3),
    "responsibility": ("", "all", *SHORT),
    "message": ("hello", "", *SHORT),
    "image": ("0123456789abcdef.png", "../x.png", "", "x"),
    "caption": ("", "look"),
    "source": ("whatsapp:1", "telegram:1", "user", "", "whatsapp:"),
    "agent": ("House", "One", "", "One-1"),
}
RAW: Final = (
    '{"path": "a',
    "null",
    "[1]",
    '"text"',
    "",
    "{",
    "NaN",
    '{"id": 1, "id": 2}',
    "[" * 5_000,
    "\x00",
)
JUNK: Final = (None, True, 1.5, [], {}, [[]], {"a": None}, "\ud800", *INTS)
NO_TOOLS: Final = ("no_such", "", "functions.zoom", "shell ", "é" * 90)


class HostileCalls:
    """Makes calls from one seed."""

    def __init__(self, seed: int, schemas: Sequence[Mapping[str, Any]]) -> None:
        """`schemas`: of the tools that there are."""
        self._rng = random.Random(seed)
        self._schemas = schemas

    def calls(self, count: int) -> tuple[Call, ...]:
        """Calls of one answer."""
        return tuple(self._call() for _ in range(count))

    def _call(self) -> Call:
        rng = self._rng
        schema = rng.choice(self._schemas)
        name = str(schema["name"]) if rng.random() < 0.95 else rng.choice(NO_TOOLS)
        if rng.random() < 0.1:
            return Call(name=name, arguments=rng.choice(RAW))
        arguments = {one: self._value(one) for one in schema["parameters"]["properties"]}
        if arguments and rng.random() < 0.1:
            del arguments[rng.choice(list(arguments))]
        if rng.random() < 0.05:
            arguments["surplus"] = rng.choice(JUNK)
        return Call(name=name, arguments=json.dumps(arguments))

    def _value(self, name: str) -> Any:
        known = KNOWN.get(name, SHORT)
        return self._rng.choice(known) if self._rng.random() < 0.9 else self._rng.choice(JUNK)
