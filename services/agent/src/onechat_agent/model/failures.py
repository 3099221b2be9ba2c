"""What can go wrong with a call to the model, and the one line that the user is told of it.

Which answer of a server is which failure: verdict.py. When a call is made again: retry.py. No failure holds a
key or a message's text; the reason of a refusal is the model's own words, for the user and not for logs.
"""

from enum import StrEnum
from typing import ClassVar

from onechat_agent import sentences
from onechat_agent.model.endpoint import Lack
from onechat_agent.model.items import TokenUsage


class ModelFailure(Exception):
    """A call that gave no answer. `sentence` is for the user, `code` a short label for logs.

    `retriable` says whether the same call may work later without anybody changing anything; `lasting` that no
    call can work until somebody does: it is told once per cause, until a call succeeds.
    """

    retriable: ClassVar[bool] = False
    lasting: ClassVar[bool] = False

    def __init__(self, sentence: str, *, code: str, usage: TokenUsage | None = None) -> None:
        super().__init__(code)  # not the sentence: a log that prints the error prints no words of the model
        self.sentence = sentence
        self.code = code
        self.usage = usage or TokenUsage()  #: what the failed call used all the same


class Trouble(StrEnum):
    """Why a server could not be reached, or not to the end."""

    NETWORK = "network"
    SLOW = "slow"  #: silent for too long, or not done within the call's time
    BUSY = "busy"  #: 429
    SERVER = "server"  #: 5xx
    BROKEN = "broken"  #: the stream ended or was garbled before the answer was whole


_TROUBLES = {
    Trouble.NETWORK: sentences.MODEL_NETWORK,
    Trouble.SLOW: sentences.MODEL_SLOW,
    Trouble.BUSY: sentences.MODEL_BUSY,
    Trouble.SERVER: sentences.MODEL_SERVER,
    Trouble.BROKEN: sentences.MODEL_BROKEN,
}


class Unreachable(ModelFailure):
    """Network, timeouts, 429, 5xx, broken streams: the call is made again."""

    retriable = True

    def __init__(
        self,
        trouble: Trouble,
        *,
        retry_after_s: float | None = None,
        code: str | None = None,
        usage: TokenUsage | None = None,
    ) -> None:
        super().__init__(_TROUBLES[trouble], code=code or str(trouble), usage=usage)
        self.trouble = trouble
        self.retry_after_s = retry_after_s  #: what the server asked to wait; None when it said nothing


class BadKey(ModelFailure):
    """The key is wrong, or allows nothing."""

    lasting = True

    def __init__(self, *, code: str = "bad_key") -> None:
        super().__init__(sentences.MODEL_KEY, code=code)


class QuotaUsedUp(ModelFailure):
    """The account has no credit left; waiting alone changes nothing."""

    lasting = True

    def __init__(self, *, code: str = "insufficient_quota") -> None:
        super().__init__(sentences.MODEL_QUOTA, code=code)


class UnknownModel(ModelFailure):
    """The server does not have the model."""

    lasting = True

    def __init__(self, model: str) -> None:
        super().__init__(sentences.MODEL_UNKNOWN.format(model=model), code="unknown_model")


class BadRequest(ModelFailure):
    """The server refuses this request and would refuse it again.

    `switch` is what to add to ONECHAT_ENDPOINT_LACKS where the refusal names it.
    """

    def __init__(
        self, sentence: str, *, code: str, switch: Lack | None = None, usage: TokenUsage | None = None
    ) -> None:
        super().__init__(sentence, code=code, usage=usage)
        self.switch = switch


class ContextTooLong(BadRequest):
    """The request holds more text than the model takes."""

    def __init__(self, *, code: str = "context_too_long") -> None:
        super().__init__(sentences.MODEL_CONTEXT, code=code)


class Refused(ModelFailure):
    """The model declined; `reason` is its own words, one line, perhaps empty."""

    def __init__(self, reason: str, *, usage: TokenUsage | None = None) -> None:
        reason = " ".join(reason.split())
        sentence = (
            sentences.MODEL_REFUSED.format(reason=reason) if reason else sentences.MODEL_REFUSED_SILENTLY
        )
        super().__init__(sentence, code="refused", usage=usage)
        self.reason = reason


class Filtered(ModelFailure):
    """A content filter stopped the request or the answer."""

    def __init__(self, *, code: str = "content_filter", usage: TokenUsage | None = None) -> None:
        super().__init__(sentences.MODEL_FILTERED, code=code, usage=usage)


class TooLong(ModelFailure):
    """The answer was cut before its end: at the limit on output tokens, or for a reason that `code` names.

    Or by us, with the code TOO_LARGE: it is more than a log and an event could carry.
    """

    TOO_LARGE: ClassVar[str] = "answer_too_large"

    def __init__(self, *, code: str = "max_output_tokens", usage: TokenUsage | None = None) -> None:
        known = {
            "max_output_tokens": sentences.MODEL_TOO_LONG,
            self.TOO_LARGE: sentences.MODEL_TOO_LARGE,
        }
        super().__init__(
            known.get(code) or sentences.MODEL_ENDED_EARLY.format(code=code), code=code, usage=usage
        )
