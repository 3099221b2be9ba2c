"""What a delivery cannot be, and whom it wakes."""

from dataclasses import replace

import pytest
from onechat_agent.domain.chat import Kind
from onechat_agent.domain.delivery import HOPS_MAX, NewDelivery, fault, from_agent, wakes


def new(**fields: object) -> NewDelivery:
    said = {"key": "k", "to": "", "source": "user", "kind": Kind.USER, "text": "hello", **fields}
    return NewDelivery(**said)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "fields",
    [
        {"key": ""},
        {"key": "é"},
        {"key": "k" * 201},
        {"text": " \n"},
        {"kind": Kind.TOOL},
        {"source": "somebody"},
        {"group": "g"},
        {"group_count": 2},
        {"former_source": "whatsapp:1@lid"},
        {"source": "telegram:1", "former_source": "whatsapp:1@lid"},
        {"source": "whatsapp:1@s", "former_source": "telegram:1"},
        {"source": "whatsapp:1@s", "former_source": "whatsapp:1@s"},
        {"source": "whatsapp:1@s", "former_source": "whatsapp:"},
        {"source": "whatsapp:1@s", "former_source": "whatsapp:1 @lid"},
        {"source": "whatsapp:1@s", "former_source": "whatsapp:\u202e1@lid"},
        {"source": "whatsapp:1@s", "former_source": "whatsapp:" + "1" * 200},
    ],
)
def test_a_delivery_that_cannot_be_taken_says_why(fields: dict[str, object]) -> None:
    assert fault(new(**fields))


def test_an_image_alone_is_a_delivery() -> None:
    assert fault(new(text="", images=("0123456789abcdef.png",))) is None


def test_a_chat_of_whatsapp_may_have_another_id() -> None:
    other = "whatsapp:111222333444@lid"

    assert fault(new(source="whatsapp:1@s", kind=Kind.WORK, former_source=other)) is None


def test_the_users_words_wake_and_a_batch_wakes_the_root_only_if_its_gateway_says_so() -> None:
    quiet = new(source="whatsapp:1@s", kind=Kind.WORK)

    assert wakes(new(), to_root=True, routed=False)
    assert not wakes(quiet, to_root=True, routed=False)
    assert wakes(replace(quiet, wakes_root=True), to_root=True, routed=False)


def test_what_is_routed_wakes_its_agent_in_every_case() -> None:
    assert wakes(new(source="whatsapp:1@s", kind=Kind.WORK), to_root=False, routed=True)


def test_a_groups_message_wakes_its_agent_only_if_its_gateway_says_that_it_is_meant_for_it() -> None:
    """All that members say is learned, and most of it needs no answer."""
    said = new(source="telegram:-1", kind=Kind.WORK)

    assert not wakes(said, to_root=False, routed=False, to_group=True)
    assert wakes(replace(said, wakes_root=True), to_root=False, routed=False, to_group=True)


def test_messages_that_agents_have_passed_on_too_long_wake_nobody() -> None:
    assert wakes(new(hops=HOPS_MAX - 1), to_root=True, routed=False)
    assert not wakes(new(hops=HOPS_MAX), to_root=True, routed=False)


def test_an_agent_is_a_source_without_a_service() -> None:
    assert from_agent("5f3a9c0d5f3a9c0d")
    assert not from_agent("user")
    assert not from_agent("whatsapp:1@s")
