"""What a model answers: values only. How an answer goes over the wire: response.py, events.py.

Who decides on one: brain.py and compaction.py by rules, scripts.py as a test wrote it.
"""

import json
from dataclasses import dataclass
from enum import StrEnum


class CutReason(StrEnum):
    """Why an answer is incomplete, as `incomplete_details.reason` names it."""

    LENGTH = "max_output_tokens"
    FILTER = "content_filter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One function call; `arguments` is the text the model wrote, which need not be JSON."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer: a text, calls, both, or neither (an empty reply)."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    refusal: str = ""  #: stands in place of the text when not empty
    reasoning: str = ""  #: a reasoning item comes first when not empty
    cut: CutReason | None = None  #: the answer ends as `response.incomplete`
    failure: tuple[str, str] | None = None  #: (code, message): it ends as `response.failed`


def call(name: str, /, **arguments: object) -> Call:
    """A call with well-formed arguments."""
    return Call(name=name, arguments=json.dumps(arguments, ensure_ascii=False))
