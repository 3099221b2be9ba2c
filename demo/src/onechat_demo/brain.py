"""What the demo model answers in a turn: by rules, from the request alone. Pure and deterministic.

It keeps no state: what was asked and what has been done about it both stand in the request. What plain words
ask for: asks.py; schedules: timed.py; WhatsApp: writing.py; looking things up: recall.py; small talk:
talk.py; compactions: compaction.py.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from onechat_demo.answers import Answer, Call
from onechat_demo.asks import Ask, Command, Recall, asks_in
from onechat_demo.outside import from_outside
from onechat_demo.prompt import (
    ROLLED_OVER,
    Called,
    Entry,
    Prompt,
    Returned,
    Said,
    Voice,
    lines_of,
    read_prompt,
)
from onechat_demo.recall import first_zooms, next_zoom
from onechat_demo.refusals import JsonObject
from onechat_demo.talk import CLIP_MAX, clipped, reply_to, signed
from onechat_demo.timed import Due, clock_of, due_in
from onechat_demo.writing import FIND, SEND, Write, only_chat

Tools = Mapping[str, Sequence[str]]  # a tool's name and its arguments, in the schema's order


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Everything the user's messages of this turn asked for."""

    commands: tuple[Command, ...]
    recalls: tuple[Recall, ...]
    lookups: tuple[Command, ...]  #: the first zooms of the recalls
    writes: tuple[Write, ...]  #: what goes to a chat that is sought first


def answer_turn(body: JsonObject) -> Answer:
    """The answer to a turn's request: calls while there is something to run, then a reply, maybe empty."""
    prompt, tools = read_prompt(body), tools_of(body)
    if rolled_over := _after_roll_over(prompt.turn):
        prompt = replace(prompt, turn=rolled_over[1:])
    asked = _asked(prompt, tools)
    zooms = [*asked.lookups, *_follow_ups(prompt, asked)] if "zoom" in tools else []
    once = {_identity(zoom.tool, zoom.arguments): zoom for zoom in zooms}
    todo = _without_made((*asked.commands, *once.values(), *_sends(prompt, asked.writes)), prompt.turn)
    if todo:
        if body.get("parallel_tool_calls") is False:
            todo = todo[:1]
        return Answer(calls=tuple(_call(command, tools) for command in todo))
    said = [*_due(prompt), *_report(prompt, asked), *_talk(prompt, tools)]
    if rolled_over and not said:
        said = ["What my steps gave stands in the chat."]
    return Answer(text=signed("\n".join(said))) if said else Answer()


def tools_of(body: JsonObject) -> Tools:
    """The tools that this request may call."""
    choice = body.get("tool_choice", "auto")
    offered = body.get("tools")
    if choice == "none" or not isinstance(offered, list):
        return {}
    found = {tool["name"]: tuple(tool["parameters"].get("properties", {})) for tool in offered}
    if isinstance(choice, dict):
        allowed = [choice.get("name"), *(one.get("name") for one in choice.get("tools", ()))]
        found = {name: arguments for name, arguments in found.items() if name in allowed}
    return found


def _asked(prompt: Prompt, tools: Tools) -> Asked:
    asks = [ask for entry in _messages(prompt.turn) for ask in _asks(entry, prompt)]
    recalls = tuple(ask for ask in asks if isinstance(ask, Recall))
    writes = tuple(ask for ask in asks if isinstance(ask, Write) and {FIND, SEND} <= tools.keys())
    sought = [Command(tool=FIND, arguments={"name": name}) for name in dict.fromkeys(w.name for w in writes)]
    commands = [_named(ask, prompt) for ask in asks if isinstance(ask, Command) and ask.tool in tools]
    return Asked(
        commands=tuple(_fitted(command, tools) for command in [*commands, *sought]),
        recalls=recalls,
        lookups=tuple(zoom for recall in recalls for zoom in first_zooms(prompt.view, recall)),
        writes=writes,
    )


def _named(command: Command, prompt: Prompt) -> Command:
    """`command` with an id of its own where it sends: the same all through a turn, another in the next."""
    if command.tool != SEND or "id" in command.arguments:
        return command
    seen = json.dumps([prompt.state, len(prompt.view), prompt.view[-1].first if prompt.view else 0])
    digest = hashlib.sha256((seen + _identity(SEND, command.arguments)).encode()).hexdigest()
    return Command(tool=SEND, arguments={"id": f"demo-{digest[:16]}", **command.arguments})


def _asks(message: Said, prompt: Prompt) -> tuple[Ask, ...]:
    """What a message asks for; of a schedule's run, what its task does."""
    due = _run(message)
    return asks_in(due.task if due else message.text, clock_of(prompt.state))


def _run(message: Said) -> Due | None:
    return due_in(message.text) if message.voice is Voice.WORK else None


def _due(prompt: Prompt) -> list[str]:
    """What the runs of schedules are about that came since the model last said something."""
    runs = (_run(message) for message in _messages(_fresh(prompt.turn)))
    return [clipped(run.words(), CLIP_MAX) for run in runs if run is not None]


def _fitted(command: Command, tools: Tools) -> Command:
    """`command` with the arguments that the tool has; a call with others would never count as made."""
    known = {key: value for key, value in command.arguments.items() if key in tools[command.tool]}
    return Command(tool=command.tool, arguments=known)


def _after_roll_over(turn: Sequence[Entry]) -> tuple[Entry, ...]:
    """From the last remark that the turn has rolled over: what was asked before is done. Empty without."""
    remarks = [
        index
        for index, entry in enumerate(turn)
        if isinstance(entry, Said) and entry.voice is Voice.REMARK and ROLLED_OVER.search(entry.text)
    ]
    return tuple(turn[remarks[-1] :]) if remarks else ()


def _messages(entries: Sequence[Entry]) -> list[Said]:
    """What may ask for something: no words from outside, no remarks, no pictures that a call gave.

    The members of a group ask its agent, whose tools are what its owner gave them.
    """
    call_ids = [entry.call_id for entry in entries if isinstance(entry, Called)]
    return [
        entry
        for entry in entries
        if isinstance(entry, Said)
        and entry.voice in (Voice.USER, Voice.WORK, Voice.MEMBER)
        and (entry.voice is Voice.MEMBER or not from_outside(entry.text))
        and not (entry.images and any(call_id in entry.text for call_id in call_ids))
    ]


def _fresh(turn: Sequence[Entry]) -> Sequence[Entry]:
    """What came since the model last said something."""
    texts = [
        index for index, entry in enumerate(turn) if isinstance(entry, Said) and entry.voice is Voice.MODEL
    ]
    return turn[texts[-1] + 1 :] if texts else turn


def _follow_ups(prompt: Prompt, asked: Asked) -> tuple[Command, ...]:
    """Deeper zooms for what a question's earlier zooms gave."""
    found: list[Command] = []
    for called, returned in _results(prompt.turn):
        if called.name == "zoom":
            lines = lines_of(returned.text)
            deeper = [next_zoom(called, lines, recall) for recall in asked.recalls]
            found += [command for command in deeper if command is not None][:1]
    return tuple(found)


def _sends(prompt: Prompt, writes: Sequence[Write]) -> tuple[Command, ...]:
    """The sends whose chat has been found."""
    found: list[Command] = []
    for write in writes:
        chat = _found_chat(prompt, write)
        if chat:
            found.append(_named(Command(tool=SEND, arguments=write.to(chat)), prompt))
    return tuple(found)


def _found_chat(prompt: Prompt, write: Write) -> str | None:
    """The id of the chat that this turn's search for its name has found; None while it has not found one."""
    rows = [
        returned.text
        for called, returned in _results(prompt.turn)
        if called.name == FIND and called.arguments.get("name") == write.name
    ]
    return only_chat(rows[-1], write.name) if rows else None


def _results(turn: Sequence[Entry]) -> list[tuple[Called, Returned]]:
    calls = {entry.call_id: entry for entry in turn if isinstance(entry, Called)}
    return [(calls[entry.call_id], entry) for entry in turn if isinstance(entry, Returned)]


def _without_made(wanted: Sequence[Command], turn: Sequence[Entry]) -> tuple[Command, ...]:
    """What of `wanted` was not called yet; a call counts for one command with its tool and arguments."""
    made = [_identity(entry.name, entry.arguments) for entry in turn if isinstance(entry, Called)]
    todo: list[Command] = []
    for command in wanted:
        identity = _identity(command.tool, command.arguments)
        if identity in made:
            made.remove(identity)
        else:
            todo.append(command)
    return tuple(todo)


def _identity(tool: str, arguments: Mapping[str, object]) -> str:
    named = {key: value for key, value in arguments.items() if value is not None}
    return tool + json.dumps(named, sort_keys=True)


def _call(command: Command, tools: Tools) -> Call:
    arguments = {name: command.arguments.get(name) for name in tools[command.tool]}
    return Call(name=command.tool, arguments=json.dumps(arguments, ensure_ascii=False))


def _report(prompt: Prompt, asked: Asked) -> list[str]:
    """A paragraph for each result since the model last said something; of a lookup only where it ended."""
    new = {entry.call_id for entry in _fresh(prompt.turn) if isinstance(entry, Returned)}
    results = [(called, returned) for called, returned in _results(prompt.turn) if returned.call_id in new]
    said: list[str] = []
    for called, returned in results:
        if called.name == "zoom" and asked.recalls:
            lines = lines_of(returned.text)
            if any(next_zoom(called, lines, recall) for recall in asked.recalls):
                continue
            said.append(
                f"I looked it up at message {called.arguments.get('id')}: {_shown(returned, results)}"
            )
        else:
            said.append(f"{called.name} says: {_shown(returned, results)}")
    return said


def _shown(returned: Returned, results: Sequence[object]) -> str:
    text = clipped(returned.text.strip(), CLIP_MAX // len(results)) or "(nothing)"
    return text + (f" (and {returned.images} picture)" if returned.images else "")


def _talk(prompt: Prompt, tools: Tools) -> list[str]:
    """Replies to the messages since the model last said something that asked for nothing it can run."""
    said: list[str] = []
    for message in _messages(_fresh(prompt.turn)):
        asks = _asks(message, prompt)
        if not asks and message.voice is not Voice.WORK:
            said.append(reply_to(message, prompt))
        for ask in asks:
            match ask:
                case Command(tool=tool) if tool not in tools:
                    said.append(f"I have no tool {tool} here.")
                case Write() if not {FIND, SEND} <= tools.keys():
                    said.append(f"I have no tool {SEND} here.")
                case Write(name=name) if _found_chat(prompt, ask) is None:
                    said.append(
                        f"I sent nothing to {name}: say it again with the id of the chat that you mean."
                    )
                case Recall(words=words) if "zoom" not in tools or not first_zooms(prompt.view, ask):
                    said.append(f"No line of the chat that I see has: {' '.join(words)}.")
    return said
