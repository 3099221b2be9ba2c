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
/usage              model calls and tokens of the last seven days
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

    def run(self, line: str, time: datetime) -> str:
        """The answer to `line`, given at `time`; also shown to the clients that are there.

        Raises NotACommand for a line that is a message. One that looks like a mistyped command gets the help.
        """
        answer = self._answer(line.strip(), time)
        self._events.pass_by(CommandGiven(line=line.strip(), answer=answer))
        return answer

    def _answer(self, line: str, time: datetime) -> str:
        match = _COMMAND.fullmatch(line)
        if match is None:
            raise NotACommand()
        name, argument = match[1].lower(), (match[2] or "").strip()
        match name:
            case "help":
                return HELP
            case "stop":
                return self._stop(argument, time)
            case "usage":
                return summary(self._usage.last_days(_USAGE_DAYS))
            case "agents":
                return "\n".join(
                    f"{agent.name} ({agent.role}): {agent.doing}, {agent.waiting} waiting"
                    for agent in self._agents.all()
                )
            case _ if name in _LATER:
                return _LATER[name]
            case _:
                return f"There is no command /{name}.\n{HELP}"

    def _stop(self, argument: str, time: datetime) -> str:
        try:
            stopped = self._agents.stop(argument, everybody=argument.lower() == "all", before=time)
        except AgentUnknown:
            return f"There is no agent {argument}. /agents lists them."
        return f"Stopped: {', '.join(stopped)}." if stopped else "Nothing is at work."
