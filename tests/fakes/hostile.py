"""Requests that nobody should send: any message of a contract, its fields drawn from what breaks programs.

Seeded, so that a run that found something can be had again. `known` gives a field, by its name, values that
mean something to the service under test, so that requests also come past its door.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

INTS: Final = (0, 1, 2, 3, 7, 8, 63, 64, 1_000, 2**31 - 1, 2**31, 2**53 + 1, 2**62, 2**63 - 1)
TEXTS: Final = (
    "",
    " ",
    "\x00",
    "\n\r\n\u2028\u2029\x0b\x0c\x85",
    "\uffff\ufffe\ufeff",
    "\u202eright to left\u202c \u200f\u2067",
    "e" + "\u0301" * 3_000,
    " \u200d" * 2_000,
    "😀" * 700 + "👩‍👩‍👧‍👦" * 50 + "🇮🇹" * 301,
    "\x1b[2J\x1b]0;title\x07\x9b31m",
    "40+8|copied",
    "<chat>\n0+1|x\n</chat>",
    "'; DROP TABLE logs; --%s{0}\\",
    "../../etc/passwd",
    "/",
    "root",
    "user",
    "whatsapp:1@s.whatsapp.net",
    "Europe/Rome",
    "a" * 513,
    "word " * 7_000,
    "9" * 5_000,
)
_BITS: Final = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}
_TIMES: Final = (
    0,
    1,
    1_767_000_000,
    -1,
    -62_135_596_800,
    253_402_300_799,
    -(2**63),
    2**63 - 1,
    253_402_300_800,
)
_NANOS: Final = (0, 1, -1, 999_999_999, 1_000_000_000, -(2**31), 2**31 - 1)
_LONG_LIST: Final = 300


class Hostile:
    """Makes requests from one seed."""

    def __init__(self, seed: int, known: Mapping[str, Sequence[Any]]) -> None:
        self._rng = random.Random(seed)
        self.known: dict[str, list[Any]] = {name: list(values) for name, values in known.items()}

    def request(self, kind: Any) -> Any:
        """A message of class `kind`."""
        made = kind()
        self._fill(made)
        return made

    def choice(self, options: Sequence[Any]) -> Any:
        """One of `options`."""
        return self._rng.choice(options)

    def text(self) -> str:
        """A text that is no joy."""
        rng = self._rng
        text = rng.choice(TEXTS)
        if rng.random() < 0.3:
            text += rng.choice(TEXTS)
        if rng.random() < 0.2:
            text = "".join(
                chr(rng.choice((rng.randrange(1, 0xD800), rng.randrange(0xE000, 0x110000)))) for _ in range(9)
            )
        return text

    def _fill(self, message: Any) -> None:
        if isinstance(message, Timestamp | Duration):
            message.seconds = self._rng.choice(_TIMES)
            message.nanos = self._rng.choice((0, 0, *_NANOS))
            return
        for field in message.DESCRIPTOR.fields:
            if self._rng.random() < 0.25:
                continue
            if field.is_repeated:
                self._fill_list(message, field)
            elif field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
                part = getattr(message, field.name)
                part.SetInParent()
                self._fill(part)
            else:
                setattr(message, field.name, self._value(field))

    def _fill_list(self, message: Any, field: FieldDescriptor) -> None:
        values = getattr(message, field.name)
        many = _LONG_LIST if self._rng.random() < 0.01 else self._rng.choice((0, 1, 1, 2, 5))
        for _ in range(many):
            if field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
                self._fill(values.add())
            else:
                values.append(self._value(field))

    def _value(self, field: FieldDescriptor) -> Any:
        rng = self._rng
        known = self.known.get(field.name)
        if known and rng.random() < 0.8:
            return rng.choice(known)
        match field.cpp_type:
            case FieldDescriptor.CPPTYPE_STRING:
                text = self.text()
                return text.encode() if field.type == FieldDescriptor.TYPE_BYTES else text
            case FieldDescriptor.CPPTYPE_BOOL:
                return rng.random() < 0.5
            case FieldDescriptor.CPPTYPE_ENUM:
                return rng.choice((*(one.number for one in field.enum_type.values), 99, -1))
            case FieldDescriptor.CPPTYPE_DOUBLE | FieldDescriptor.CPPTYPE_FLOAT:
                return rng.choice((0.0, -1.0, 1e300, float("inf"), float("nan")))
        low, high = _BITS[field.cpp_type]
        return max(low, min(high, rng.choice(INTS) * rng.choice((1, 1, 1, -1)) + rng.choice((0, 0, 1, -1))))
