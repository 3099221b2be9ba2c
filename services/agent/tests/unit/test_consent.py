"""The table of what runs and what needs the user's yes, cell by cell."""

import pytest
from onechat_agent.domain.consent import WEIGHTS, Confirm, Proposes, Runs, decide
from onechat_agent.tools.toolbox import TOOLS_OF

LIGHT = [
    "zoom",
    "date",
    "read",
    "whatsapp_find",
    "schedule_list",
    "routes",
    "image_show",
    "tell",
    "spawn",
    "schedule_set",
]
HANDS = ["shell", "write", "edit"]
GRAVE = ["whatsapp_send", "route", "unroute", "agent_create", "schedule_remove"]
BACKED = {"backed": True, "tainted": False}
TAINTED = {"backed": True, "tainted": True}
UNBACKED = {"backed": False, "tainted": False}
UNBACKED_TAINTED = {"backed": False, "tainted": True}


def decided(tool, turn, *, confirm=Confirm.OUTSIDE, outside=(), touches_protected=False):
    return decide(tool, **turn, confirm=confirm, outside=outside, touches_protected=touches_protected)


@pytest.mark.parametrize(
    ("tools", "turn", "runs"),
    [
        (LIGHT, BACKED, True),
        (LIGHT, TAINTED, True),
        (LIGHT, UNBACKED, True),
        (LIGHT, UNBACKED_TAINTED, True),
        (HANDS, BACKED, True),
        (HANDS, TAINTED, True),
        (HANDS, UNBACKED, False),
        (HANDS, UNBACKED_TAINTED, False),
        (GRAVE, BACKED, True),
        (GRAVE, TAINTED, False),
        (GRAVE, UNBACKED, False),
        (GRAVE, UNBACKED_TAINTED, False),
    ],
)
def test_each_cell_of_the_table(tools, turn, runs):
    for tool in tools:
        assert isinstance(decided(tool, turn), Runs if runs else Proposes), tool


@pytest.mark.parametrize("tool", ["write", "edit"])
def test_a_change_of_an_agents_own_files_is_as_grave_as_a_send(tool):
    """instructions.md speaks with the user's voice in every later turn."""
    assert decided(tool, BACKED, touches_protected=True) == Runs()
    for turn in (TAINTED, UNBACKED):
        decision = decided(tool, turn, outside=["write", "edit"], touches_protected=True)

        assert isinstance(decision, Proposes)
        assert "instructions.md or agent.toml" in decision.sentence(7)


def test_an_agent_may_be_allowed_more_for_its_unbacked_turns_and_the_refusal_says_how():
    decision = decided("shell", UNBACKED)

    assert isinstance(decision, Proposes)
    assert '"shell" to `outside` in agent.toml' in decision.sentence(7)
    assert "proposal 7" in decision.sentence(7)
    assert decided("shell", UNBACKED, outside=["shell"]) == Runs()
    assert isinstance(decided("write", UNBACKED, outside=["shell"]), Proposes)


@pytest.mark.parametrize("tool", GRAVE)
def test_outside_never_allows_a_send_or_what_is_as_grave(tool):
    decision = decided(tool, UNBACKED, outside=GRAVE)

    assert isinstance(decision, Proposes)
    assert "outside`" not in decision.sentence(7)


def test_confirm_always_asks_before_every_send_and_nothing_else():
    assert isinstance(decided("whatsapp_send", BACKED, confirm=Confirm.ALWAYS), Proposes)
    assert decided("route", BACKED, confirm=Confirm.ALWAYS) == Runs()
    assert decided("shell", BACKED, confirm=Confirm.ALWAYS) == Runs()


def test_a_tool_that_the_table_does_not_know_is_grave():
    assert isinstance(decided("launch", TAINTED), Proposes)


def test_the_table_knows_every_tool_that_an_agent_has():
    assert {name for names in TOOLS_OF.values() for name in names} <= WEIGHTS.keys()
