"""Command lines of clients: /help, /stop, /yes, /no, /proposals, /whatsapp, /usage, /agents.

Neither a line nor its answer is logged or shown to a model. /whatsapp: whatsapp_commands.py.
"""

import re
from datetime import datetime
from zoneinfo import ZoneInfo

from onechat_agent import proposal_words, sentences
from onechat_agent.agents import Agents
from onechat_agent.domain.events import CommandGiven
from onechat_agent.domain.text import one_line
from onechat_agent.domain.usage import summary
from onechat_agent.errors import AgentUnknown, NotACommand, ProposalUnknown
from onechat_agent.events import Events
from onechat_agent.proposals import Proposals, body_of
from onechat_agent.stops import Stops
from onechat_agent.usage_book import UsageBook
from onechat_agent.whatsapp_commands import WhatsAppCommands

_USAGE_DAYS = 7
_NAME_SHOWN = 40  # characters of a name that nobody has
_PROPOSALS = 20  # shown at once
_COMMAND = re.compile(
    r"/([a-zA-Z_]+)(?:@\w+)?(?:\s+(.*))?", re.DOTALL
)  # a path such as /etc/hosts is a message


class Commands:
    """Runs them."""

    def __init__(
        self,
        agents: Agents,
        stops: Stops,
        usage: UsageBook,
        events: Events,
        proposals: Proposals,
        whatsapp: WhatsAppCommands,
        zone: ZoneInfo,
    ) -> None:
        """`zone` is the user's."""
        self._agents = agents
        self._stops = stops
        self._usage = usage
        self._events = events
        self._proposals = proposals
        self._whatsapp = whatsapp
        self._zone = zone

    async def run(self, line: str, time: datetime | None, request_id: str) -> str:
        """The answer to `line`, given at `time` (None: now); also shown to the clients that are there.

        Under one `request_id` a /stop stops once, a proposal is answered once, and a pairing or an unlinking
        is one. A line that looks like a mistyped command gets the help. Raises NotACommand for a line that is
        a message, KeyReused, BadRequestId.
        """
        answer = await self._answer(line.strip(), time, request_id)
        self._events.pass_by(CommandGiven(line=line.strip(), answer=answer))
        return answer

    async def _answer(self, line: str, time: datetime | None, request_id: str) -> str:
        match = _COMMAND.fullmatch(line)
        if match is None:
            if line.lower().startswith("/whatsapp"):  # no message, lest a model be told a number in it
                return sentences.WHATSAPP_USAGE
            raise NotACommand()
        name, argument = match[1].lower(), (match[2] or "").strip()
        match name:
            case "help":
                return sentences.HELP
            case "stop":
                return await self._stop(line, argument, time, request_id)
            case "yes" | "no":
                return await self._answer_proposal(name, argument, request_id)
            case "proposals":
                return self._proposals_shown(argument)
            case "usage":
                return summary(self._usage.last_days(_USAGE_DAYS))
            case "agents":
                return self._agents.roster()
            case "whatsapp":
                return await self._whatsapp.run(argument, request_id)
            case _:
                return (
                    f"{sentences.COMMAND_UNKNOWN.format(name=one_line(name, _NAME_SHOWN))}\n{sentences.HELP}"
                )

    async def _answer_proposal(self, word: str, argument: str, request_id: str) -> str:
        number, yes = _number(argument), word == "yes"
        if number is None:
            return sentences.PROPOSAL_WHICH.format(word=word)
        try:
            body = body_of(number, yes=yes)
            proposal = await self._proposals.answer(number, yes=yes, request_id=request_id, body=body)
        except ProposalUnknown:
            return sentences.PROPOSAL_UNKNOWN.format(number=number)
        return proposal_words.standing(proposal, self._zone)

    def _proposals_shown(self, argument: str) -> str:
        """What is open, or all of one, which its own text may have shortened."""
        if argument:
            number = _number(argument)
            if number is None:
                return sentences.PROPOSAL_WHICH.format(word="proposals")
            try:
                return proposal_words.whole(self._proposals.find(number), self._zone)
            except ProposalUnknown:
                return sentences.PROPOSAL_UNKNOWN.format(number=number)
        found = self._proposals.open(_PROPOSALS + 1)
        shown = [
            f"{proposal.text}\n{proposal_words.standing(proposal, self._zone)}"
            for proposal in found[:_PROPOSALS]
        ]
        if len(found) > _PROPOSALS:
            shown.append(sentences.PROPOSALS_MORE)
        return "\n\n".join(shown) or sentences.PROPOSALS_NONE

    async def _stop(self, line: str, argument: str, time: datetime | None, request_id: str) -> str:
        name = argument.removeprefix("[").removesuffix("]")  # as messages show it
        try:
            stopped = await self._stops.stop(
                name,
                everybody=name.lower() == "all",
                before=time,
                request_id=request_id,
                body=f"RunCommand\0{line}".encode(),
            )
        except AgentUnknown:
            return sentences.AGENT_UNKNOWN.format(name=one_line(argument, _NAME_SHOWN))
        return (
            sentences.STOPPED_THESE.format(names=", ".join(stopped)) if stopped else sentences.NOTHING_AT_WORK
        )


def _number(argument: str) -> int | None:
    """The number of a proposal, as people write it; None for what is none."""
    digits = argument.removeprefix("#")
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 19 else None
