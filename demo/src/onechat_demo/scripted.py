"""ScriptedModel: the demo's server inside a test, with scripts and a record of every request.

    async with ScriptedModel.serving() as model:
        model.say("hello")
        …point a client at model.base_url…
        assert model.requests()[0].body["model"] == "demo"

A request without a script gets the rules' answer. Faults: faults.py. For another process: control.py.
"""

import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from onechat_demo.answers import Answer, Call
from onechat_demo.faults import Break, HttpFault, StreamFault
from onechat_demo.lacks import Lack
from onechat_demo.model import DemoModel, Purpose
from onechat_demo.records import Record
from onechat_demo.rules import Rules
from onechat_demo.scripts import Gate, Script, in_turn
from onechat_demo.server import ResponsesServer, Stage, serving


class ScriptedModel:
    """A model server that a test directs. Belongs to the event loop that it is served on."""

    def __init__(self, stage: Stage, base_url: str) -> None:
        self._stage = stage
        self.base_url = base_url  #: for a client: http://127.0.0.1:PORT/v1

    @classmethod
    @asynccontextmanager
    async def serving(
        cls,
        *,
        models: Iterable[str] | None = None,
        lacks: Iterable[Lack | str] = (),
        over_length: int | None = None,
        port: int = 0,
    ) -> AsyncIterator["ScriptedModel"]:
        """Serves on loopback while the block runs. `models` None: any name goes."""
        stage = Stage()
        rules = Rules(
            models=None if models is None else frozenset(models), lacks=frozenset(Lack(one) for one in lacks)
        )
        server = ResponsesServer(
            rules=rules, model=DemoModel(over_length=over_length), now=time.time, stage=stage
        )
        async with serving(server.application(), port) as address:
            yield cls(stage, address)

    def script(self, *scripts: Script) -> None:
        """Add scripts for the requests to come."""
        self._stage.scripts.add(*scripts)

    def say(self, *answers: Answer | str) -> None:
        """A turn's answers, a request each."""
        self.script(*in_turn(*answers))

    def call(self, *calls: Call) -> None:
        """The next turn request is answered by these calls, side by side."""
        self.say(Answer(calls=calls))

    def compress(self, *answers: Answer | str) -> None:
        """Answers to compactions, a request each."""
        self.script(*in_turn(*answers, purpose=Purpose.COMPACTION))

    def fail(self, fault: HttpFault, *, times: int = 1, purpose: Purpose | None = Purpose.TURN) -> None:
        """The next requests get an error status; `times` may be FOR_EVER."""
        self.script(Script(http=fault, times=times, purpose=purpose))

    def break_stream(
        self,
        kind: Break,
        *,
        answer: Answer | None = None,
        after: int | None = None,
        stall: Gate | None = None,
        purpose: Purpose | None = Purpose.TURN,
    ) -> None:
        """The next answer goes wrong after `after` events."""
        self.script(
            Script(answer=answer, stream=StreamFault(kind=kind, after=after), stall=stall, purpose=purpose)
        )

    def hold(self, *, answer: Answer | None = None, purpose: Purpose | None = Purpose.TURN) -> Gate:
        """The next request waits, before anything is sent, until the gate that this gives is opened."""
        gate = Gate()
        self.script(Script(answer=answer, gate=gate, purpose=purpose))
        return gate

    def clear(self) -> None:
        """Forget the scripts that were not used."""
        self._stage.scripts.clear()

    def unused(self) -> tuple[Script, ...]:
        """The scripts that no request has used up."""
        return self._stage.scripts.waiting()

    def requests(self, purpose: Purpose | None = None) -> list[Record]:
        """The requests so far, whole."""
        return self._stage.records.all(purpose)

    def refusals(self) -> list[str]:
        """What the server refused, a sentence each: a client's faults."""
        return [record.refusal for record in self.requests() if record.refusal]

    async def wait_for(self, count: int, purpose: Purpose | None = None) -> list[Record]:
        """Returns once `count` requests (of `purpose`) have come; the caller sets the deadline."""
        return await self._stage.records.wait_for(count, purpose)
