"""An agent service that tells one client, without a network: what comes of it is there at once."""

from datetime import UTC, datetime
from itertools import count
from typing import Any

from onechat_cli.domain.happening import Body, Event, TextCame, TextVoid
from onechat_cli.domain.transcript import Kind, Line, Transcript

NOW = datetime(2026, 11, 30, tzinfo=UTC)


class Teller:
    """Folds what a service would tell; `lines` are what came of it."""

    def __init__(self, **about: Any) -> None:
        self.transcript = Transcript(root_id="root", **about)
        self.lines: list[Line] = []
        self._numbers = count(1)

    def event(
        self,
        body: Body,
        *,
        turn: str = "t",
        agent_id: str = "root",
        agent: str = "One",
        number: int | None = None,
    ) -> list[Line]:
        number = number or next(self._numbers)
        event = Event(number=number, agent_id=agent_id, agent=agent, turn=turn, time=NOW, body=body)
        return self._take(self.transcript.fold(event))

    def text(
        self, text: str, offset: int = 0, *, step: int = 1, turn: str = "t", agent_id: str = "root"
    ) -> list[Line]:
        came = TextCame(agent_id=agent_id, turn=turn, step=step, offset=offset, text=text)
        return self._take(self.transcript.fold(came))

    def void(self, step: int = 1) -> list[Line]:
        return self._take(self.transcript.fold(TextVoid(agent_id="root", turn="t", step=step)))

    def _take(self, lines: list[Line]) -> list[Line]:
        self.lines += lines
        return lines

    def texts(self, kind: Kind = Kind.REPLY) -> list[str]:
        """What was shown of this kind, in order."""
        return [line.text for line in self.lines if line.kind is kind]
