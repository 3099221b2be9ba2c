"""One call of the model: which kind it is, what it answers, what it costs. No network, no clock."""

import json
from dataclasses import dataclass, replace
from enum import StrEnum

from onechat_demo.answers import Answer, CutReason
from onechat_demo.brain import answer_turn
from onechat_demo.compaction import compact
from onechat_demo.forms import form_of, smallest
from onechat_demo.judging import judged, judges
from onechat_demo.prompt import Said, compaction_talk, read_prompt
from onechat_demo.refusals import JsonObject
from onechat_demo.usage import TOKEN_BYTES, tokens


class Purpose(StrEnum):
    """What a request is for, told from its input."""

    TURN = "turn"
    COMPACTION = "compaction"


def purpose_of(body: JsonObject) -> Purpose:
    """A compaction has a user text that begins with `Compaction:` and holds its `<input>`."""
    return Purpose.TURN if compaction_talk(body) is None else Purpose.COMPACTION


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoModel:
    """The model that answers by rules; `over_length` is the seed of its over-length mode, None without it."""

    over_length: int | None = None

    def answer(self, body: JsonObject) -> Answer:
        """The answer to a request that keeps the rules; the same request always gets the same."""
        talk = compaction_talk(body)
        if talk is not None:
            return within(body, compact(*talk, self.over_length))
        answer, form = answer_turn(body), form_of(body)
        return within(body, answer if form is None or answer.calls else Answer(text=_in_form(form, body)))


def _in_form(form: JsonObject, body: JsonObject) -> str:
    """The answer that has `form`, as JSON: a judgement where one is asked for, else the plainest."""
    found = form.get("schema")
    schema = found if isinstance(found, dict) else {}
    question = next((one.text for one in reversed(read_prompt(body).turn) if isinstance(one, Said)), "")
    return json.dumps(judged(question) if judges(schema) else smallest(schema))


def within(body: JsonObject, answer: Answer) -> Answer:
    """`answer` cut at the request's max_output_tokens; a cut answer is incomplete and has no calls."""
    limit = body.get("max_output_tokens")
    if not isinstance(limit, int) or tokens(answer.text) <= limit:
        return answer
    text = answer.text.encode()[: limit * TOKEN_BYTES].decode(errors="ignore")
    return replace(answer, text=text, calls=(), cut=CutReason.LENGTH)
