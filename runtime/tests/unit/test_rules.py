"""Who may call what is named for every method, and for no others."""

import pytest
from onechat_runtime.listening import UNARY_CAP_S, Served, rules_of

from tests.fakes.echo import DESCRIPTOR, EchoServicer, echo_served


def _served(**changes):
    whole = {"descriptor": DESCRIPTOR, "add": lambda server: None}
    return Served(**{**whole, **changes})


async def test_a_call_without_streams_is_capped_and_streams_are_not():
    rules = rules_of([echo_served(EchoServicer(), caps={"Chat": 600.0})])

    caps = {name.rpartition("/")[2]: rule.cap_s for name, rule in rules.items() if "EchoService" in name}
    assert caps == {"Echo": UNARY_CAP_S, "Repeat": None, "Join": None, "Chat": 600.0}


async def test_endless_streams_end_at_drain_and_finite_ones_may_finish():
    served = echo_served(EchoServicer(), caps={"Chat": 600.0}, ends_at_drain=frozenset({"Echo"}))

    ending = {name.rpartition("/")[2] for name, rule in rules_of([served]).items() if rule.ends_at_drain}

    assert {"Echo", "Repeat", "Watch"} <= ending
    assert not {"Join", "Chat", "Check"} & ending


def test_a_method_without_callers_is_found_at_once():
    with pytest.raises(ValueError, match=r"EchoService\.Chat"):
        rules_of([_served(allow={name: frozenset() for name in ("Echo", "Repeat", "Join")})])


def test_a_name_that_is_no_method_is_found_at_once():
    allow = {name: frozenset[str]() for name in ("Echo", "Repeat", "Join", "Chat")}

    with pytest.raises(ValueError, match="no method Ecko"):
        rules_of([_served(allow=allow | {"Ecko": frozenset()})])
    with pytest.raises(ValueError, match="no method Ecko"):
        rules_of([_served(allow=allow, caps={"Ecko": 1.0})])


def test_only_health_answers_without_a_token():
    open_to_all = {name for name, rule in rules_of([]).items() if rule.allow is None}

    assert open_to_all == {"/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch"}
