"""A chat that was known by one id and is by another: its route, and a root that remembers the old one."""

import random
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest
from onechat.agent.v1 import agent_service_pb2, delivery_pb2
from onechat_agent.adapters import agent_rows, route_rows
from onechat_agent.adapters.delivery_rows import body_hash
from onechat_agent.domain.agent import Agent, AgentState, Role
from onechat_agent.domain.chat import AgentId, Kind
from onechat_agent.domain.delivery import NewDelivery
from onechat_agent.domain.routes import Changed
from onechat_agent.routes import Routes
from onechat_runtime.clock import SystemClock
from onechat_runtime.errors import RemoteError
from onechat_runtime.request_ids import once
from onechat_runtime.store import migrations_in

from tests.fakes.agent_house import House, living
from tests.fakes.agent_talk import make_child, says
from tests.fakes.clock import ManualClock
from tests.fakes.memory_server import MemoryServer
from tests.fakes.proposal_talk import command
from tests.fakes.scripted_model import Call, ScriptedModel, call
from tests.fakes.stores import store_at

LID = "whatsapp:111222333444@lid"
NUMBER = "whatsapp:15550002222@s.whatsapp.net"
NEW_NUMBER = "whatsapp:15550004444@s.whatsapp.net"
OTHER_LID = "whatsapp:999888777666@lid"


@pytest.fixture
async def house(tmp_path: Path, memory: MemoryServer, model: ScriptedModel) -> AsyncIterator[House]:
    """With two children."""
    async with living(tmp_path, memory, model) as running:
        await make_child(running, "House")
        await make_child(running, "Garden")
        yield running


def routed(source: str, child: str = "House") -> Call:
    return call("route", source=source, agent=child)


async def does(house: House, *calls: Call) -> list[str]:
    """What the root is answered when it makes these calls on the user's word."""
    before = len(await house.lines())
    says(house, "", *calls, "done")
    await house.say("please")
    return [line.removeprefix("echo: ") for line in (await house.lines())[before:] if line[:5] == "echo:"]


async def came(
    house: House, text: str, source: str, *, to: str = "", former: str = "", **fields: object
) -> str:
    """A batch comes for the root or the child `to`, which ends its turn; its key."""
    says(house, to, "")
    said = {"source": source, "former_source": former, "wakes_root": True, **fields}
    key = await house.deliver(text, caller="whatsapp", **said)
    await house.ended(key)
    return key


async def heard(house: House, name: str) -> list[str]:
    """The first message of each batch in an agent's log."""
    return [line.split("| ")[1].split("\n")[0] for line in await house.lines(name) if line[:5] == "work:"]


async def listed(house: House) -> dict[str, str]:
    """A child's name by source, as clients see the routes."""
    answer = await house.stub().ListRoutes(agent_service_pb2.ListRoutesRequest(), timeout=20)
    return {one.source: one.agent for one in answer.routes}


async def test_a_chat_that_was_routed_by_its_old_id_keeps_its_child(house: House) -> None:
    """The very batch that tells of the number goes to the child, and so does one that closed before."""
    await does(house, routed(LID))
    await came(house, "by lid", LID, to="House")
    await came(house, "by number", NUMBER, to="House", former=LID)
    await came(house, "by number again", NUMBER, to="House", former=LID)
    await came(house, "late by lid", LID, to="House")
    await came(house, "without the other", NUMBER, to="House")

    assert await heard(house, "House") == [
        "by lid",
        "by number",
        "by number again",
        "late by lid",
        "without the other",
    ]
    assert await heard(house, "") == []
    assert await listed(house) == {NUMBER: "House"}
    assert "15550002222@s.whatsapp.net goes to House" in (await command(house, "/whatsapp status"))


async def test_the_old_id_that_the_root_remembers_is_taken_and_the_new_one_is_told(house: House) -> None:
    await came(house, "hello", NUMBER, former=LID)

    answers = await does(
        house,
        routed(LID),
        routed(NUMBER),
        call("routes"),
        call("unroute", source=LID),
        call("unroute", source=LID),
    )
    await came(house, "again", NUMBER)

    now = f"{LID} is {NUMBER} now: it"
    assert answers == [
        f"{now} goes to House from now on, not to you.",
        f"{NUMBER} went to House already; nothing changed.",
        f"{NUMBER} goes to House",
        f"{now} comes to you from now on, and no longer to House.",
        f"Nothing is routed from {NUMBER}; `routes` lists what is.",
    ]
    assert await listed(house) == {}
    assert await heard(house, "") == ["hello", "again"]


@pytest.mark.parametrize(
    ("first", "second"), [((LID, "House"), (NUMBER, "Garden")), ((NUMBER, "House"), (LID, "Garden"))]
)
async def test_of_two_routes_of_one_chat_the_one_that_was_set_later_stays(
    house: House, first: tuple[str, str], second: tuple[str, str]
) -> None:
    await does(house, routed(*first), routed(*second))

    await came(house, "hello", NUMBER, to="Garden", former=LID)

    assert await listed(house) == {NUMBER: "Garden"}


async def test_a_route_that_was_set_again_is_the_later_one(house: House) -> None:
    await does(house, routed(LID), routed(NUMBER, "Garden"), routed(LID))

    await came(house, "hello", NUMBER, to="House", former=LID)

    assert await listed(house) == {NUMBER: "House"}


async def test_whoever_gets_another_number_keeps_the_route_and_the_old_number_has_none(house: House) -> None:
    """The LID stays with its account, so it is the same chat."""
    await does(house, routed(LID))
    await came(house, "one", NUMBER, to="House", former=LID)
    await came(house, "two", NEW_NUMBER, to="House", former=LID)
    await came(house, "somebody else", NUMBER, former=OTHER_LID)

    assert await listed(house) == {NEW_NUMBER: "House"}
    assert (await does(house, routed(OTHER_LID, "Garden")))[0].startswith(f"{OTHER_LID} is {NUMBER} now")


async def test_a_number_that_came_to_somebody_else_is_theirs_alone(house: House) -> None:
    await came(house, "one", NUMBER, former=LID)
    await came(house, "somebody else", NUMBER, former=OTHER_LID)

    answers = await does(house, routed(LID), routed(OTHER_LID, "Garden"))

    assert answers[0] == f"{LID} goes to House from now on, not to you."
    assert await listed(house) == {LID: "House", NUMBER: "Garden"}


async def test_routes_and_both_ids_are_there_after_restarts(
    tmp_path: Path, memory: MemoryServer, model: ScriptedModel
) -> None:
    async with living(tmp_path, memory, model) as house:
        await make_child(house, "House")
        await does(house, routed(LID))
    async with living(tmp_path, memory, model) as house:
        await came(house, "by number", NUMBER, to="House", former=LID)
    async with living(tmp_path, memory, model) as house:
        await came(house, "by lid", LID, to="House")
        answers = await does(house, call("unroute", source=LID))

        assert answers == [f"{LID} is {NUMBER} now: it comes to you from now on, and no longer to House."]
        assert await heard(house, "House") == ["by number", "by lid"]


async def test_what_is_refused_moves_no_route(house: House) -> None:
    """All of one call is taken or none of it, and with it what it says of ids."""
    await does(house, routed(LID))
    key = await came(house, "first", "whatsapp:1@g.us")
    with pytest.raises(RemoteError, match="KEY_REUSED"):
        await handed(house, ("k:new", "by number"), (key, "other words"))

    assert await listed(house) == {LID: "House"}


async def test_a_batch_with_another_former_id_is_another_batch(house: House) -> None:
    await came(house, "hello", NUMBER, former=LID, key="k:same")
    await house.deliver(
        "hello", caller="whatsapp", key="k:same", source=NUMBER, former_source=LID, wakes_root=True
    )

    for other in ("", OTHER_LID):
        with pytest.raises(RemoteError, match="KEY_REUSED"):
            await house.deliver(
                "hello", caller="whatsapp", key="k:same", source=NUMBER, former_source=other, wakes_root=True
            )


async def test_only_the_gateway_to_whatsapp_says_that_a_chat_has_another_id(house: House) -> None:
    """It moves a route, so it decides who reads a chat."""
    for caller, source in (("operator", NUMBER), ("telegram", "telegram:1"), ("scheduler", "schedule:1")):
        with pytest.raises(RemoteError, match=r"BACKING_NOT_ALLOWED|DELIVERY_INVALID"):
            await house.deliver("hi", caller=caller, backed=False, source=source, former_source=LID)
    with pytest.raises(RemoteError, match="DELIVERY_INVALID"):
        await house.deliver("hi", caller="whatsapp", source=NUMBER, former_source="telegram:1")


async def test_ids_that_are_told_the_other_way_round_go_round_in_no_circle(house: House) -> None:
    await does(house, routed(LID))
    await came(house, "one", NUMBER, to="House", former=LID)
    await came(house, "two", LID, to="House", former=NUMBER)

    assert await listed(house) == {LID: "House"}
    assert house.store.read(lambda db: pairs(db)) == [(NUMBER, LID)]
    assert house.store.read(lambda db: route_rows.in_use(db, LID)) == LID


async def test_what_was_kept_before_chats_had_two_ids_is_known_again(tmp_path: Path) -> None:
    """A delivery whose answer was lost and a call that was interrupted may be of an older release."""
    hello = NewDelivery(key="k", to="", source="user", kind=Kind.USER, text="hello")
    path, clock = tmp_path / "agent" / "store.db", SystemClock()
    migrations = migrations_in("onechat_agent.migrations")
    async with store_at(path, component="agent", migrations=migrations, clock=clock) as store:
        body, now = f"unroute\0{NUMBER}".encode(), clock.now()
        await store.write(
            lambda db: once(db, request_id="r", body=body, now=now, answer=lambda: b'["House", ""]')
        )

        changed = await Routes(store, clock).remove(NUMBER, request_id="r")

    assert changed == Changed(before="House", now="", source=NUMBER)
    assert body_hash(hello).hex() == "4fc6d7d88a2f8167766511c392d3376c257249f885405b2eb33a63a05d618a3d"


async def test_whatever_is_learnt_in_any_order_routes_stay_at_ids_in_use_and_none_is_lost(
    tmp_path: Path,
) -> None:
    """Numbers come to others and others to numbers; each chat has one child at most, as it was set last."""
    rng, clock = random.Random(27), ManualClock(datetime(2027, 1, 5, tzinfo=UTC))
    ids = [f"whatsapp:{name}" for name in "abcdefgh"]
    children = [AgentId(name) for name in ("House", "Garden", "Car")]

    def walk(db: apsw.Connection) -> None:
        for child in children:
            agent_rows.add(db, the_child(child), clock.now())
        for _ in range(2_000):
            clock.advance(1)
            one, other = rng.sample(ids, 2)
            if rng.random() < 0.4:
                route_rows.put(db, route_rows.in_use(db, one), rng.choice(children), clock.now())
                continue
            before = route_rows.in_use(db, one)
            had = {source: set_at(db, source) for source in (before, other)}
            route_rows.unite(db, one, other)
            assert route_rows.in_use(db, one) == route_rows.in_use(db, other) == other
            assert set_at(db, other) == max(had.values())
            assert before == other or set_at(db, before) == 0
            in_use = {source for _, source in pairs(db)}
            assert not in_use & {former for former, _ in pairs(db)}
            assert all(route_rows.in_use(db, routed) == routed for routed, _, _ in route_rows.every(db))

    migrations = migrations_in("onechat_agent.migrations")
    path = tmp_path / "agent" / "store.db"
    async with store_at(path, component="agent", migrations=migrations, clock=clock) as store:
        await store.write(walk)


def the_child(name: AgentId) -> Agent:
    return Agent(id=name, name=name, role=Role.CHILD, state=AgentState.READY)


def set_at(db: apsw.Connection, source: str) -> int:
    """When the route of `source` was set; 0 without one."""
    return int(db.execute("SELECT create_time FROM routes WHERE source = ?", (source,)).get or 0)


def pairs(db: apsw.Connection) -> list[tuple[str, str]]:
    """(former, source)"""
    return [(row[0], row[1]) for row in db.execute("SELECT former, source FROM former_sources")]


async def handed(house: House, *batches: tuple[str, str]) -> None:
    """Batches of the chat in one call, each with the LID besides: (key, text)."""
    new = [
        delivery_pb2.NewDelivery(key=key, text=text, source=NUMBER, former_source=LID)
        for key, text in batches
    ]
    request = agent_service_pb2.DeliverRequest(deliveries=new)
    await house.stub("whatsapp").Deliver(request, timeout=20)
