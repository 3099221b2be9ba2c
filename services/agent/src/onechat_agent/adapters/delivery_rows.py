"""The queue's rows: every function works inside the caller's transaction.

What a delivery is: domain/delivery.py. What happens to it: queue.py.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import apsw
from onechat_runtime.clock import instant, micros

from onechat_agent.domain.chat import AgentId, Kind
from onechat_agent.domain.delivery import (
    Delivery,
    DeliveryId,
    DeliveryState,
    NewDelivery,
    ReplyTo,
    TurnId,
)
from onechat_agent.domain.taking import GroupSeen

_COLUMNS = (
    "delivery_id, key, agent_id, source, kind, text, images, time, wakes, reply_to, backed, tainted, hops, "
    "group_key, group_count, state, turn, accept_time, meant_for"
)

_AN_AGENTS = "(source <> 'user' AND instr(source, ':') = 0)"  # domain/delivery.py: from_agent


def body_hash(new: NewDelivery) -> bytes:
    """SHA-256 of all that the caller said of a delivery; tells a repeat from another one with its key."""
    said = [new.to, new.source, new.kind, new.text, new.images, new.wakes_root, new.backed, new.tainted]
    said += [new.group, new.group_count, micros(new.time) if new.time else None]
    said += [new.reply_to.chat, new.reply_to.message, new.reply_to.topic]
    if new.former_source:  # without one, a delivery is hashed as it was before there were any
        said.append(new.former_source)
    return hashlib.sha256(json.dumps(said).encode()).digest()


def known(db: apsw.Connection, key: str) -> tuple[Delivery, bytes] | None:
    """The delivery of this key with its body's hash; None when the key is new."""
    row = db.execute(f"SELECT body_hash, {_COLUMNS} FROM deliveries WHERE key = ?", (key,)).fetchone()
    return None if row is None else (_delivery(row[1:]), row[0])


def add(
    db: apsw.Connection,
    new: NewDelivery,
    *,
    body_hash: bytes,
    agent: AgentId,
    wakes: bool,
    meant_for: str,
    now: datetime,
) -> Delivery:
    """Stores `new` as queued for `agent`; `body_hash` is of what its caller said."""
    db.execute(
        "INSERT INTO deliveries (key, body_hash, agent_id, source, kind, text, images, time, wakes, reply_to,"
        " backed, tainted, hops, group_key, group_count, state, accept_time, meant_for)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?)",
        (
            new.key,
            body_hash,
            agent,
            new.source,
            new.kind,
            new.text,
            json.dumps(new.images),
            micros(new.time or now),
            wakes,
            json.dumps([new.reply_to.chat, new.reply_to.message, new.reply_to.topic]),
            new.backed,
            new.tainted,
            new.hops,
            new.group,
            new.group_count,
            micros(now),
            meant_for,
        ),
    )
    return by_id(db, DeliveryId(db.last_insert_rowid()))


def by_id(db: apsw.Connection, delivery: DeliveryId) -> Delivery:
    """A stored delivery."""
    return _delivery(db.execute(f"SELECT {_COLUMNS} FROM deliveries WHERE delivery_id = ?", (delivery,)).get)


def queued(db: apsw.Connection, agent: AgentId) -> list[Delivery]:
    """What waits for `agent`, in order of acceptance."""
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM deliveries WHERE agent_id = ? AND state = 'queued' ORDER BY delivery_id",
        (agent,),
    )
    return [_delivery(row) for row in rows]


def groups(db: apsw.Connection, agent: AgentId) -> dict[str, GroupSeen]:
    """The groups of which something is queued for `agent`, counted over all who get something of them."""
    rows = db.execute(
        "SELECT group_key, count(*), min(accept_time) FROM deliveries WHERE group_key <> '' AND group_key IN"
        " (SELECT group_key FROM deliveries WHERE agent_id = ? AND state = 'queued') GROUP BY group_key",
        (agent,),
    )
    return {row[0]: GroupSeen(stored=row[1], first=instant(row[2])) for row in rows}


def stored_of(db: apsw.Connection, group: str) -> int:
    """How much of `group` is stored, over all who get something of it, done or not."""
    return int(
        db.execute("SELECT count(*) FROM deliveries WHERE group_key = ? AND group_key <> ''", (group,)).get
    )


def waiting_with(db: apsw.Connection, group: str) -> list[AgentId]:
    """The agents for which something of `group` is queued."""
    rows = db.execute(
        "SELECT DISTINCT agent_id FROM deliveries"
        " WHERE group_key = ? AND group_key <> '' AND state = 'queued'",
        (group,),
    )
    return [AgentId(row[0]) for row in rows]


def pass_on(db: apsw.Connection, gone: AgentId, name: str, to: AgentId) -> int:
    """What `gone`, called `name`, had queued or in a turn at work is queued for `to`; how much that is.

    What other agents had said to it is nobody's word to `to`: it is work, and nobody stands behind it.
    """
    db.execute(
        "UPDATE deliveries SET agent_id = ?2, state = 'queued', turn = NULL, place = NULL, shown = 1,"
        f" meant_for = ?3, backed = backed AND NOT {_AN_AGENTS},"
        f" kind = CASE WHEN {_AN_AGENTS} THEN 'work' ELSE kind END"
        " WHERE agent_id = ?1 AND state IN ('queued', 'taken')",
        (gone, to, name),
    )
    return int(db.changes())


def take(db: apsw.Connection, turn: TurnId, deliveries: Iterable[Delivery], *, shown: bool) -> None:
    """Makes queued deliveries part of `turn`, after those that it has; `shown`: whole in its calls."""
    place = db.execute("SELECT count(*) FROM deliveries WHERE turn = ?", (turn,)).get
    for delivery in deliveries:
        db.execute(
            "UPDATE deliveries SET state = 'taken', turn = ?, place = ?, shown = ?"
            " WHERE delivery_id = ? AND state = 'queued'",
            (turn, place, shown, delivery.id),
        )
        place += 1


def of_turn(db: apsw.Connection, turn: TurnId, *, shown_only: bool = False) -> list[Delivery]:
    """The deliveries of `turn`, in order."""
    condition = " AND shown" if shown_only else ""
    rows = db.execute(f"SELECT {_COLUMNS} FROM deliveries WHERE turn = ?{condition} ORDER BY place", (turn,))
    return [_delivery(row) for row in rows]


def hops(db: apsw.Connection, turn: TurnId) -> int:
    """How often agents have passed on what `turn` is about: the most of its deliveries'; 0 without any."""
    return int(db.execute("SELECT max(hops) FROM deliveries WHERE turn = ?", (turn,)).get or 0)


def hide(db: apsw.Connection, deliveries: Iterable[Delivery]) -> None:
    """After a roll-over: these of the turn's deliveries stand in its view only."""
    db.executemany("UPDATE deliveries SET shown = 0 WHERE delivery_id = ?", [(d.id,) for d in deliveries])


def heard_outside(db: apsw.Connection, agent: AgentId) -> bool:
    """Whether anything was logged for `agent` without a turn that may hold text from outside."""
    found = (
        "SELECT EXISTS (SELECT 1 FROM deliveries WHERE agent_id = ? AND state = 'done' AND turn IS NULL"
        " AND (tainted = 1 OR backed = 0))"
    )
    return bool(db.execute(found, (agent,)).get)


def wake_nobody(db: apsw.Connection, agent: AgentId, before: datetime | None) -> None:
    """What is queued for `agent` is logged without a turn: what had come by `before`, or all of it."""
    db.execute(
        "UPDATE deliveries SET wakes = 0 WHERE agent_id = ?1 AND state = 'queued'"
        " AND (?2 IS NULL OR accept_time <= ?2)",
        (agent, None if before is None else micros(before)),
    )


def wake_no_more(db: apsw.Connection, deliveries: Iterable[Delivery]) -> None:
    """Those of `deliveries` that are still queued are logged without a turn."""
    db.executemany(
        "UPDATE deliveries SET wakes = 0 WHERE delivery_id = ? AND state = 'queued'",
        [(delivery.id,) for delivery in deliveries],
    )


def quieten_agents(db: apsw.Connection, agent: AgentId, before: datetime | None, *, everybody: bool) -> None:
    """What the subagents of `agent`, or all agents, had told it by `before` is logged without a turn.

    `before` None: all that they have; by the wall clock some of it may lie ahead, when that was set back.
    """
    db.execute(
        "UPDATE deliveries SET wakes = 0 WHERE agent_id = ?1 AND state = 'queued'"
        " AND (?2 IS NULL OR accept_time <= ?2)"
        " AND source IN (SELECT agent_id FROM agents WHERE ?3 OR (role = 'subagent' AND parent_id = ?1))",
        (agent, None if before is None else micros(before), everybody),
    )


def finish(db: apsw.Connection, deliveries: Iterable[Delivery]) -> None:
    """Marks deliveries done."""
    db.executemany(
        "UPDATE deliveries SET state = 'done' WHERE delivery_id = ?", [(d.id,) for d in deliveries]
    )


def waiting(db: apsw.Connection, agent: AgentId) -> int:
    """How many deliveries of `agent` are not done."""
    open_ones = db.execute(
        "SELECT (SELECT count(*) FROM deliveries WHERE agent_id = ?1 AND state = 'queued') + (SELECT count(*)"
        " FROM deliveries d JOIN turns t ON d.turn = t.turn_id WHERE t.agent_id = ?1 AND t.state = 'begun'"
        " AND d.state = 'taken')",
        (agent,),
    ).get
    return int(open_ones)


def newest(
    db: apsw.Connection, *, agent: str, state: DeliveryState | None, key: str, before: int | None, limit: int
) -> list[Delivery]:
    """A page of deliveries, newest first, with ids below `before`."""
    conditions: list[str] = []
    values: list[Any] = []
    for condition, value in (
        ("agent_id = ?", agent),
        ("state = ?", state),
        ("key = ?", key),
        ("delivery_id < ?", before),
    ):
        if value:
            conditions.append(condition)
            values.append(value)
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM deliveries{where} ORDER BY delivery_id DESC LIMIT ?", (*values, limit)
    )
    return [_delivery(row) for row in rows]


def _delivery(row: Sequence[Any]) -> Delivery:
    return Delivery(
        id=DeliveryId(row[0]),
        key=row[1],
        agent=AgentId(row[2]),
        source=row[3],
        kind=Kind(row[4]),
        text=row[5],
        images=tuple(json.loads(row[6])),
        time=instant(row[7]),
        wakes=bool(row[8]),
        reply_to=ReplyTo(**dict(zip(("chat", "message", "topic"), json.loads(row[9]), strict=True))),
        backed=bool(row[10]),
        tainted=bool(row[11]),
        hops=row[12],
        group=row[13],
        group_count=row[14],
        state=DeliveryState(row[15]),
        turn=None if row[16] is None else TurnId(row[16]),
        accept_time=instant(row[17]),
        meant_for=row[18],
    )
