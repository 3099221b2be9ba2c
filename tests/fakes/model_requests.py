"""A request as the agent makes it, for tests of the model client."""

from onechat_agent.model.endpoint import Endpoint, Lack
from onechat_agent.model.items import ModelRequest, UserItem
from onechat_runtime.settings import Secret

from tests.fakes.scripted_model import ScriptedModel

KEY = "sk-test-0123456789"
VIEW = "<chat>\n" + "\n".join(f"{at}+1|user: line {at} {'x' * 60}" for at in range(200)) + "\n</chat>"
TOOLS = tuple(
    {
        "type": "function",
        "name": name,
        "description": f"{name} of a message",
        "parameters": {
            "type": "object",
            "properties": {"id": {"type": "integer"}},
            "required": ["id"],
            "additionalProperties": False,
        },
        "strict": True,
    }
    for name in ("date", "zoom")
)
REQUEST = ModelRequest(
    system="You are One.",
    tools=TOOLS,
    items=(
        UserItem(text=VIEW),
        UserItem(text="<state>\nNow: today\n</state>"),
        UserItem(text="user: buy milk"),
    ),
    model="demo",
    effort="medium",
    cache_key="agent-1",
    max_output_tokens=1000,
)


def endpoint_of(model: ScriptedModel, lacks: frozenset[Lack] = frozenset()) -> Endpoint:
    return Endpoint.of(url=model.base_url, api_key=Secret(KEY), lacking=lacks)


def ignore(_offset: int, _text: str) -> None:
    """For tests that don't look at the text as it comes."""


def after(request: ModelRequest, *items: object) -> ModelRequest:
    fields = {name: getattr(request, name) for name in ModelRequest.__slots__}
    return ModelRequest(**(fields | {"items": (*request.items, *items)}))
