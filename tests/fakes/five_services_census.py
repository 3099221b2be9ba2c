"""Which crash points a run of a service passes: written down, so that a list of them cannot leave one out.

CRASH_CENSUS names a file that gets a line for each pass: the step as five_services_points.py names it. A
commit goes by the innermost public function of the service that hands it over, without those that only hand
on.
"""

import os
import sys
from collections.abc import MutableMapping
from importlib import import_module
from typing import Any, Final

from onechat_runtime.store_writer import Writer

from tests.fakes.five_services_points import ANSWER, APPEND, COMMIT_OF, CREATE_LOG, DEPTH, callers

VARIABLE: Final = "CRASH_CENSUS"
STEPS: Final = (ANSWER, APPEND, CREATE_LOG)
_OURS: Final = ("onechat_agent.", "onechat_memory.")
_HAND_ON: Final = (
    "onechat_agent.patience.committed",
    "onechat_memory.log_changes.begin",
    "onechat_memory.log_changes.change",
)


def install_from(environ: MutableMapping[str, str]) -> None:
    """Write down what this process passes, if the variable names a file."""
    path = environ.pop(VARIABLE, "")
    if path:
        _install(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))


def _install(file: int) -> None:
    def note(step: str) -> None:
        os.write(file, f"{step}\n".encode())

    sys.set_coroutine_origin_tracking_depth(DEPTH)
    submit = Writer.submit

    def noted(self: Writer, job: Any) -> Any:
        note(COMMIT_OF + _handed_over_by(job))
        return submit(self, job)

    setattr(Writer, "submit", noted)  # noqa: B010 - mypy would have it no other way
    for step in STEPS:
        _note_calls(step, note)


def _note_calls(step: str, note: Any) -> None:
    module, _, place = step.partition(":")
    owner_name, _, method = place.partition(".")
    owner = getattr(import_module(module), owner_name)
    original = getattr(owner, method)

    async def noted(self: Any, *args: Any, **fields: Any) -> Any:
        note(step)
        return await original(self, *args, **fields)

    setattr(owner, method, noted)


def _handed_over_by(job: Any) -> str:
    for module, function in callers(sys._getframe(2)):
        name = f"{module}.{function}"
        at_bottom = module.endswith(".__main__")  # of whatever a task does
        if module.startswith(_OURS) and not at_bottom and function[0] not in "_<" and name not in _HAND_ON:
            return name
    return f"{job.__module__}.{job.__qualname__.split('.<')[0].rpartition('.')[2]}"
