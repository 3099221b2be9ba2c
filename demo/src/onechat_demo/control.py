"""How another process directs a scripted server: scripts in, requests out. Only behind a flag, for tests.

POST /control/script     one script or a list of them, as JSON (script_from_json)
DELETE /control/script   forget the scripts that were not used
GET /control/requests    the requests so far; `?after=N` leaves out the first N
POST /control/gate/NAME  open a gate; GET says whether a request has reached it
"""

import json
from collections.abc import Callable
from typing import Any

from aiohttp import web

from onechat_demo.answers import Answer, Call, CutReason
from onechat_demo.faults import Break, HttpFault, StreamFault
from onechat_demo.model import Purpose
from onechat_demo.scripts import Gate, Script
from onechat_demo.server import Stage


class ControlRoutes:
    """The control endpoint of one stage."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._gates: dict[str, Gate] = {}

    def add_to(self, app: web.Application) -> None:
        """Add the routes."""
        app.router.add_post("/control/script", self.add_scripts)
        app.router.add_delete("/control/script", self.clear_scripts)
        app.router.add_get("/control/requests", self.list_requests)
        app.router.add_post("/control/gate/{name}", self.open_gate)
        app.router.add_get("/control/gate/{name}", self.show_gate)

    async def add_scripts(self, request: web.Request) -> web.Response:
        """400 with a sentence when a script is not understood; then none of them is taken."""
        value = await request.json()
        try:
            scripts = [
                script_from_json(one, self.gate) for one in (value if isinstance(value, list) else [value])
            ]
        except (TypeError, ValueError, KeyError) as fault:
            return web.json_response({"error": f"not a script: {fault!r}"}, status=400)
        self._stage.scripts.add(*scripts)
        return web.json_response({"waiting": len(self._stage.scripts.waiting())})

    async def clear_scripts(self, _request: web.Request) -> web.Response:
        self._stage.scripts.clear()
        return web.json_response({"waiting": 0})

    async def list_requests(self, request: web.Request) -> web.Response:
        after = int(request.query.get("after", "0"))
        return web.json_response([record.to_json() for record in self._stage.records.all()[after:]])

    async def open_gate(self, request: web.Request) -> web.Response:
        self.gate(request.match_info["name"]).open()
        return web.json_response({})

    async def show_gate(self, request: web.Request) -> web.Response:
        return web.json_response({"reached": self.gate(request.match_info["name"]).is_reached})

    def gate(self, name: str) -> Gate:
        """The gate of that name, made when it is first named."""
        return self._gates.setdefault(name, Gate())


def script_from_json(value: object, gate: Callable[[str], Gate]) -> Script:
    """A script from its JSON form: the fields of Script, gates by name, calls' arguments as text or object.

    Raises TypeError, ValueError or KeyError when it is none.
    """
    fields = _object(value)
    for name in ("gate", "stall"):
        if name in fields:
            fields[name] = gate(str(fields[name]))
    if "answer" in fields:
        fields["answer"] = _answer(fields["answer"])
    if "http" in fields:
        fields["http"] = HttpFault(**_object(fields["http"]))
    if "stream" in fields:
        fault = _object(fields["stream"])
        fields["stream"] = StreamFault(**{**fault, "kind": Break(fault["kind"])})
    if "purpose" in fields:
        fields["purpose"] = Purpose(str(fields["purpose"]))
    return Script(**fields)


def _answer(value: object) -> Answer:
    fields = _object(value)
    if "calls" in fields:
        fields["calls"] = tuple(_call(one) for one in fields["calls"])
    if "cut" in fields:
        fields["cut"] = CutReason(fields["cut"])
    if "failure" in fields:
        code, message = fields["failure"]
        fields["failure"] = (str(code), str(message))
    return Answer(**fields)


def _call(value: object) -> Call:
    fields = _object(value)
    arguments = fields["arguments"]
    return Call(
        name=str(fields["name"]), arguments=arguments if isinstance(arguments, str) else json.dumps(arguments)
    )


def _object(value: object) -> dict[str, Any]:
    """A JSON object, its fields not checked yet: the dataclass that takes them names the unknown ones."""
    if not isinstance(value, dict):
        raise TypeError(f"an object is wanted, not {value!r}")
    return dict(value)
