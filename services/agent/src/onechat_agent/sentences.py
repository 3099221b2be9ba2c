"""Every sentence of the agent service that a person reads, in one place so that they can be translated.

One line each but for the help, plain, with what to do. Values that go in are named; a message's text, a key
or a phone number never is one of them. What refuses a start is said where it is found, with the file's name.
What a model reads: prompts/. What tools answer a model: tools/.
"""

from typing import Final

# The model client: model/failures.py and model/verdict.py say when each is used.
MODEL_NETWORK: Final = "The model cannot be reached. Check the network, and OPENAI_BASE_URL if it is set."
MODEL_SLOW: Final = "The model does not answer in time."
MODEL_BUSY: Final = "The model's server takes no more requests for now."
MODEL_SERVER: Final = "The model's server has a fault of its own."
MODEL_BROKEN: Final = "The model's answer broke off."
MODEL_KEY: Final = "The model's server refuses the key. Check OPENAI_API_KEY and start the agent again."
MODEL_QUOTA: Final = (
    "The quota of the model's account is used up. Add credit or raise its limit; then say it again."
)
MODEL_UNKNOWN: Final = (
    "The model's server does not have the model {model}. Set ONECHAT_MODEL to one that it has."
)
MODEL_NO_RESPONSES: Final = (
    "The server at OPENAI_BASE_URL has no Responses API at that address. It usually ends in /v1."
)
MODEL_BAD_REQUEST: Final = "The model's server refused the request ({code})."
MODEL_LACKS: Final = (
    "The model's server refused a part of the request that it does not know. Add {switch} to "
    "ONECHAT_ENDPOINT_LACKS and start the agent again."
)
MODEL_PICTURE: Final = "The model cannot read a picture of this turn ({code})."
MODEL_CONTEXT: Final = (
    "The model cannot take as much text as this turn holds. Lower context_bytes in agent.toml."
)
MODEL_REFUSED: Final = "The model declined to answer: {reason}"
MODEL_REFUSED_SILENTLY: Final = "The model declined to answer."
MODEL_FILTERED: Final = "The model's content filter stopped the answer."
MODEL_TOO_LONG: Final = "The answer ran past the limit on output tokens and was cut. Ask for it in parts."
MODEL_TOO_LARGE: Final = "The model's answer was too large to be kept and was left out. Ask for it in parts."
MODEL_ENDED_EARLY: Final = "The model ended its answer early ({code})."

# Settings that name the model's server: model/endpoint.py.
SETTING_BASE_URL: Final = "write an address such as http://127.0.0.1:8080/v1"
SETTING_KEY: Final = "OPENAI_API_KEY holds a space or a character that no key has: copy it again"
SETTING_LACKS: Final = "write none, or some of {names}, with commas between them"

# Turns: telling.py, turn_steps.py, taking_up.py and loop.py say when each is used.
KEPT_UNTIL_REACHABLE: Final = "{cause} Your message is kept; I go on by myself once it works again."
MEMORY_AWAY: Final = (
    "The memory does not answer. What you say is kept; I go on by myself once it works again. "
    "`onechat status` shows which services are there."
)
DAY_USED_UP: Final = (
    "Today's limit of tokens is used up. I go on tomorrow, or once tokens_per_day in agent.toml is raised "
    "and the agent is started again."
)
CALLS_USED_UP: Final = (
    'I stopped here: this task has taken {calls} model calls, its limit. Say "continue" to go on.'
)
MINUTES_USED_UP: Final = (
    'I stopped here: this task has run for {minutes} minutes, its limit. Say "continue" to go on.'
)
IN_CIRCLES: Final = (
    "I stopped here: I made the same step with the same result again and again. "
    'Say what to do differently, or "continue".'
)
CHAT_TOO_LONG: Final = (
    "I stopped here: my chat has become too long for one call. Give what is left to a new subagent."
)
STARTED_TOO_OFTEN: Final = (
    "I gave this task up: it was interrupted five times at the same place. Say it again to try once more."
)
OWN_FAULT: Final = (
    "Something went wrong inside onechat and this task was ended. The agent's log says what; "
    "say it again to retry."
)
NOT_DONE: Final = "I could not finish this. {reason}"  # what an agent's parent or owner gets of a failed turn
NOT_REMEMBERED: Final = (
    "A message that came from outside could not be put into the memory. The agent's log says which."
)
STOPPED: Final = "Stopped."

# Groups: what their members read. turn_ends.py, day_limit.py and resets.py say when each is used.
GROUP_NO_ANSWER: Final = "I could not answer this. Ask again in a while."
GROUP_DAY_USED_UP: Final = "That is all that I can do here today. I go on tomorrow."
GROUP_CLEARED: Final = "The memory of this group was cleared meanwhile. Ask again."
GROUP_GONE: Final = (
    "The folder of {name} is gone, so the agent of the group {title} is no longer there. What waited for it "
    "is dropped, and its memory is set aside, not deleted."
)

# Children: departures.py says when each is used.
CHILD_GONE: Final = (
    "The folder of {name} is gone, so {name} is no longer there. What waited for it comes to me, its "
    "schedules are deleted, and its memory is set aside, not deleted."
)
TAKEN_AWAY: Final = "{name} was taken away."

# Proposals: proposal_words.py, proposals.py and commands.py say when each is used.
PROPOSED: Final = "{agent} asks to run {tool}{where}:"
PROPOSED_IN: Final = " in {workdir}"
PROPOSED_ON: Final = " on {target}"
PROPOSED_RULES: Final = "It changes what an agent is told or allowed."
PROPOSED_NOTHING: Final = "(without arguments)"
PROPOSED_LONG: Final = "{name} ({lines} lines, {characters} characters):"
PROPOSED_ONE_LINE: Final = "{name} (1 line, {characters} characters):"
PROPOSED_LEFT_OUT: Final = "… {left_out} characters are not shown here …"
PROPOSED_WHY: Final = {
    "UNBACKED": "You are asked because it does not come from your own words.",
    "TAINTED": "You are asked because text from outside was read in the same turn.",
    "EVERY_SEND": "You are asked because ONECHAT_CONFIRM is set to always.",
}
PROPOSED_PICTURE: Final = "The picture that proposal {number} is about."
PROPOSED_CUT: Final = "Not all of it is shown. /proposals {number} shows the whole."
PROPOSAL_OPEN: Final = (
    "Proposal {number} awaits your yes until {until}: /yes {number} runs it, /no {number} refuses it."
)
PROPOSAL_STATES: Final = {
    "approved": "Proposal {number} of {agent} ({tool}) has your yes and is being run.",
    "done": "Proposal {number} of {agent} ({tool}) was run with your yes.",
    "failed": "Proposal {number} of {agent} ({tool}) had your yes and failed.",
    "unknown": (
        "Proposal {number} of {agent} ({tool}) had your yes and was interrupted: "
        "it is not known whether it ran."
    ),
    "refused": "Proposal {number} of {agent} ({tool}) was refused. It does not run.",
    "expired": "Proposal {number} of {agent} ({tool}) has expired. It does not run.",
}
PROPOSAL_UNKNOWN: Final = "There is no proposal {number}. /proposals lists what awaits your yes."
PROPOSAL_WHICH: Final = "Say which one: /{word} and its number, such as /{word} 3. /proposals lists them."
PROPOSALS_NONE: Final = "Nothing awaits your yes."
PROPOSALS_MORE: Final = "There are more: answer some of these first."
PROPOSAL_ELSEWHERE: Final = (
    "The path leads to another file by now than the one that was shown: nothing was done."
)
PROPOSAL_AGENT_GONE: Final = "The agent that asked is not there any more."
PROPOSAL_STOPPED: Final = "The user has stopped it."
PROPOSAL_INTERRUPTED: Final = "onechat ended while it ran."

# Answers to commands: commands.py says when each is used.
HELP: Final = """\
/stop [NAME | all]  end what is at work: here and in subagents, in one agent, in all
/yes N              let proposal N run
/no N               refuse proposal N
/proposals [N]      what awaits your yes; all of proposal N
/whatsapp …         pair PHONE links an account, status says how the link is, unlink ends it
/usage              model calls, tokens and cost of the last seven days
/agents             who is there and what each does now
/help               this list"""
COMMAND_UNKNOWN: Final = "There is no command /{name}."
AGENT_UNKNOWN: Final = "There is no agent {name}. /agents lists them."
STOPPED_THESE: Final = "Stopped: {names}."
NOTHING_AT_WORK: Final = "Nothing is at work."

# WhatsApp: whatsapp_commands.py and whatsapp_words.py say when each is used.
WHATSAPP_USAGE: Final = (
    "Say /whatsapp pair PHONE with the account's number in international form, such as "
    "/whatsapp pair +39 333 123 4567; or /whatsapp status; or /whatsapp unlink."
)
WHATSAPP_AWAY: Final = (
    "The WhatsApp service does not answer. `onechat status` shows which services are there; try again then."
)
WHATSAPP_FAULT: Final = "The WhatsApp service has a fault of its own. Its log says what; try again."
PAIRING_CODE: Final = """\
The code is {code}{until}.
Type it in on the phone: WhatsApp, Linked devices (under Settings, or in the menu),
Link a device, Link with phone number instead."""
PAIRING_UNTIL: Final = ", good until {time}"
UNLINKED: Final = "WhatsApp is not linked any more, and nothing of its session is left here."
UNLINKED_HERE: Final = (
    "The session is deleted here, but WhatsApp could not be told. Remove the device on the phone: WhatsApp, "
    "Linked devices (under Settings, or in the menu)."
)
WHATSAPP_LINKS: Final = {  # of the others the gateway says what is wrong
    "not linked": "No WhatsApp account is linked. /whatsapp pair PHONE links one.",
    "connected": "WhatsApp is linked and connected{since}.",
    "disconnected": "WhatsApp is linked and disconnected{since}. It connects again by itself.",
    "other": "WhatsApp's link is in a state that this version does not know{since}.",
}
WHATSAPP_LOST: Final = "WhatsApp: {state}{since}."
WHATSAPP_TIMES: Final = {
    "ban_end": "The ban ends: {time}.",
    "last_connect": "Last connected: {time}.",
    "last_disconnect": "Last disconnected: {time}.",
    "last_event": "Last heard of: {time}.",
}
WHATSAPP_BATCHES: Final = "Batches of messages on their way to the agent: {batches}."
WHATSAPP_UNDECRYPTABLE: Final = "Messages that could not be decrypted: {messages}."
WHATSAPP_ROUTES_NONE: Final = "No chat is routed: all of them come to {root}."
WHATSAPP_ROUTES: Final = "Routes:"
WHATSAPP_ROUTE: Final = "{chat} goes to {child}"
WHATSAPP_ROUTE_GONE: Final = "{chat} was {child}'s, who is not there any more: it comes to {root}"
WHATSAPP_ROUTES_MORE: Final = "and {more} more: the agent's `routes` lists all"

# The start and the status: wiring.py and adapters/memory.py say when each is used.
DEMO_ANSWERS: Final = "The demo model answers, by rules: set OPENAI_API_KEY for a real one."
DEMO_REFUSED: Final = (
    "A real model has written this memory, and OPENAI_API_KEY is not set. Set it, or start with --demo "
    "(ONECHAT_DEMO=1) if the demo model shall go on with it."
)
LOG_OTHER: Final = (
    "The memory's log {log} is not the memory of {agent}: it is flat, staged or set aside. Restore the data "
    "of the agent and of the memory together and start again; nothing was changed."
)
NO_SHELL_FOR_GROUPS: Final = (
    "A group's agent was given shell and does not have it: this machine's kernel has no Landlock, so the "
    "shell could read what other agents are told."
)
NO_LANDLOCK: Final = "This machine's kernel has no Landlock: the agent's shell could read the services' data."
