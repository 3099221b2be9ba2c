"""What the demo's tests share: strict tools and whole requests, built from what a test cares about."""

from collections.abc import Callable
from typing import Any

import pytest

JsonDict = dict[str, Any]


def _tool(name: str, /, **properties: str | list[str]) -> JsonDict:
    return {
        "type": "function",
        "name": name,
        "description": f"the tool {name}",
        "strict": True,
        "parameters": {
            "type": "object",
            "properties": {key: {"type": kind} for key, kind in properties.items()},
            "required": list(properties),
            "additionalProperties": False,
        },
    }


@pytest.fixture
def tools() -> list[JsonDict]:
    """The root's tools, as strict schemas."""
    return [
        _tool(
            "zoom",
            id=["integer", "null"],
            n=["integer", "null"],
            name=["string", "null"],
            page=["integer", "null"],
        ),
        _tool("date", id="integer"),
        _tool("shell", command="string"),
        _tool("read", path="string"),
        _tool("write", path="string", text="string"),
        _tool("edit", path="string", old="string", new="string"),
        _tool("schedule_set", text="string", at=["string", "null"], cron=["string", "null"]),
        _tool("schedule_list"),
        _tool("schedule_remove", id="integer"),
    ]


def user(text: str) -> JsonDict:
    return {"role": "user", "content": text}


VIEW = (
    "<chat>\n"
    "0+4|user: my heron is called Gustav · reply: noted · user: the boat leaks\n"
    "4+1|user: the rent is 900\n"
    "5+1|reply: Demo model: You said: the rent is 900\n"
    "</chat>"
)
STATE = (
    "<state>\nnow: Monday 2026-11-30 14:05 (Europe/Berlin, UTC+01:00)\nworking directory: /home/ada\n</state>"
)


@pytest.fixture
def turn(tools: list[JsonDict]) -> Callable[..., JsonDict]:
    """A turn's request: view, state, then `items` (a string is a message of the user's)."""

    def build(*items: str | JsonDict, view: str = VIEW, **changes: Any) -> JsonDict:
        given = [user(f"user: {item}") if isinstance(item, str) else item for item in items]
        return {
            "model": "demo",
            "instructions": "You are One.",
            "tools": tools,
            "input": [user(view), user(STATE), *given],
            "store": False,
            **changes,
        }

    return build


@pytest.fixture
def ran() -> Callable[..., list[JsonDict]]:
    """A call and its output, as items: `ran(call, output, id)`."""

    def build(
        name: str, arguments: str, output: str | list[JsonDict], call_id: str = "call_1"
    ) -> list[JsonDict]:
        return [
            {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments},
            {"type": "function_call_output", "call_id": call_id, "output": output},
        ]

    return build


@pytest.fixture
def compaction(tools: list[JsonDict]) -> Callable[..., JsonDict]:
    """A compaction's request for a source, with the answers that were too long so far."""

    def build(source: str, *tries: str, limit: int = 512) -> JsonDict:
        task = (
            f"Compaction: message 7, in at most {limit} bytes (about 70 words).\n<input>\n{source}\n</input>"
        )
        talk: list[JsonDict] = [user(VIEW), user(task)]
        for text in tries:
            talk.append({"role": "assistant", "content": text})
            talk.append(user(f"That is {len(text.encode())} bytes; the limit is {limit} bytes. Shorter."))
        return {
            "model": "demo",
            "instructions": "You are One.",
            "tools": tools,
            "tool_choice": "none",
            "input": talk,
        }

    return build
