"""Command lines of clients: /help, /stop, /usage, /agents.

Neither a line nor its answer is logged or shown to a model.
"""

import re
from datetime import datetime

from onechat_agent.agents import Agents
from onechat_agent.domain.events import CommandGiven
from onechat_agent.domain.usage import summary
from onechat_agent.errors import AgentUnknown, NotACommand
from onechat_agent.events import Events
from onechat_agent.usage_book import UsageBook

HELP = """\
/stop [NAME | all]  end the turn at work
/usage              model calls, tokens and cost of the last seven days
/agents             who is there and what each does now
/help               this list"""
_LATER = {
    "whatsapp": "WhatsApp cannot be linked in this version.",
    "yes": "There are no proposals in this version.",
    "no": "There are no proposals in this version.",
}
_USAGE_DAYS = 7
_COMMAND = re.compile(
    r"/([a-zA-Z_]+)(?:@\w+)?(?:\s+(.*))?", re.DOTALL
)  # a path such as /etc/hosts is a message


class Commands:
    """Runs them."""

    def __init__(self, agents: Agents, usage: UsageBook, events: Events) -> None:
        self._agents = agents
        self._usage = usage
        self._events = events

    async def run(self, line: str, time: datetime | None, request_id: str) -> str:
        """The answer to `line`, given at `time` (None: now); also shown to the clients that are there.

        A /stop that comes twice under one `request_id` stops once. Raises NotACommand for a line that is a
        message, KeyReused. One that looks like a mistyped command gets the help.
        """
        answer = await self._answer(line.strip(), time, request_id)
        self._events.pass_by(CommandGiven(line=line.strip(), answer=answer))
        return answer

    async def _answer(self, line: str, time: datetime | None, request_id: str) -> str:
        match = _COMMAND.fullmatch(line)
        if match is None:
            raise NotACommand()
        name, argument = match[1].lower(), (match[2] or "").strip()
        match name:
            case "help":
                return HELP
            case "stop":
                return await self._stop(line, argument, time, request_id)
            case "usage":
                return summary(self._usage.last_days(_USAGE_DAYS))
            case "agents":
                return self._agents.roster()
            case _ if name in _LATER:
                return _LATER[name]
            case _:
                return f"There is no command /{name}.\n{HELP}"

    async def _stop(self, line: str, argument: str, time: datetime | None, request_id: str) -> str:
        try:
            stopped = await self._agents.stop(
                argument,
                everybody=argument.lower() == "all",
                before=time,
                request_id=request_id,
                body=f"RunCommand\0{line}".encode(),
            )
        except AgentUnknown:
            return f"There is no agent {argument}. /agents lists them."
        return f"Stopped: {', '.join(stopped)}." if stopped else "Nothing is at work."
