"""The scripted model server for tests of every member: the demo's own code, under the names that tests use.

    async with ScriptedModel.serving() as model:
        model.call(call("shell", command="ls"))
        model.say("there are two files")

How scripts, faults and gates work: demo/README.md.
"""

from onechat_demo.answers import Answer, Call, CutReason, call
from onechat_demo.faults import (
    Break,
    HttpFault,
    StreamFault,
    bad_request,
    quota_used_up,
    rate_limited,
    server_error,
    unknown_model,
    wrong_key,
)
from onechat_demo.lacks import Lack
from onechat_demo.model import Purpose
from onechat_demo.records import Outcome, Record
from onechat_demo.scripted import ScriptedModel
from onechat_demo.scripts import FOR_EVER, Gate, Script

__all__ = [
    "FOR_EVER",
    "Answer",
    "Break",
    "Call",
    "CutReason",
    "Gate",
    "HttpFault",
    "Lack",
    "Outcome",
    "Purpose",
    "Record",
    "Script",
    "ScriptedModel",
    "StreamFault",
    "bad_request",
    "call",
    "quota_used_up",
    "rate_limited",
    "server_error",
    "unknown_model",
    "wrong_key",
]
