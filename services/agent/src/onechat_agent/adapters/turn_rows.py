"""The turns' rows; every function works inside the caller's transaction."""

from datetime import datetime

import apsw
from onechat_runtime.clock import instant, micros

from onechat_agent.domain.chat import AgentId, View
from onechat_agent.domain.delivery import TurnId
from onechat_agent.domain.roster import LastTurn
from onechat_agent.domain.turn import Turn, TurnState

_COLUMNS = (
    "turn_id, agent_id, state, begin_time, log_start, generation, view, state_block, backed, tainted,"
    " rollovers, steps_before, starts, start_length, stop_reason"
)


def add(db: apsw.Connection, turn: Turn) -> None:
    """Stores a turn that begins."""
    db.execute(
        f"INSERT INTO turns ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            turn.id,
            turn.agent,
            turn.state,
            micros(turn.begin_time),
            turn.log_start,
            turn.generation,
            turn.view,
            turn.state_block,
            turn.backed,
            turn.tainted,
            turn.rollovers,
            turn.steps_before,
            turn.starts,
            turn.start_length,
            turn.stop_reason,
        ),
    )


def at_work(db: apsw.Connection, agent: AgentId) -> Turn | None:
    """The turn of `agent` that has begun and is not over; an agent has at most one."""
    row = db.execute(
        f"SELECT {_COLUMNS} FROM turns WHERE agent_id = ? AND state = 'begun' ORDER BY begin_time LIMIT 1",
        (agent,),
    ).fetchone()
    if row is None:
        return None
    return Turn(
        id=TurnId(row[0]),
        agent=AgentId(row[1]),
        state=TurnState(row[2]),
        begin_time=instant(row[3]),
        log_start=row[4],
        generation=row[5],
        view=row[6],
        state_block=row[7],
        backed=bool(row[8]),
        tainted=bool(row[9]),
        rollovers=row[10],
        steps_before=row[11],
        starts=row[12],
        start_length=row[13],
        stop_reason=row[14],
    )


def start_again(db: apsw.Connection, turn: TurnId, *, starts: int, length: int) -> None:
    """Counts a start: how many in a row without a new message, and the log's length at this one."""
    db.execute("UPDATE turns SET starts = ?, start_length = ? WHERE turn_id = ?", (starts, length, turn))


def taint(db: apsw.Connection, turn: TurnId) -> None:
    """Text from outside has entered the turn."""
    db.execute("UPDATE turns SET tainted = 1 WHERE turn_id = ?", (turn,))


def heard_outside(db: apsw.Connection, agent: AgentId) -> bool:
    """Whether text from outside may have entered any turn of `agent`."""
    found = "SELECT EXISTS (SELECT 1 FROM turns WHERE agent_id = ? AND (tainted = 1 OR backed = 0))"
    return bool(db.execute(found, (agent,)).get)


def roll_over(db: apsw.Connection, turn: TurnId, view: View, *, state_block: str, steps_before: int) -> None:
    """The turn goes on with a new view that holds its steps so far."""
    db.execute(
        "UPDATE turns SET view = ?, generation = ?, state_block = ?, log_start = ?, steps_before = ?,"
        " rollovers = rollovers + 1 WHERE turn_id = ?",
        (view.text, view.generation, state_block, view.length, steps_before, turn),
    )


def ask_stop(db: apsw.Connection, turn: TurnId, reason: str) -> None:
    """A stop was asked for: whatever happens now, the turn ends as stopped."""
    db.execute("UPDATE turns SET stop_reason = ? WHERE turn_id = ? AND state = 'begun'", (reason, turn))


def is_stopping(db: apsw.Connection, turn: TurnId) -> bool:
    """Whether a stop of the turn was asked for."""
    return bool(
        db.execute("SELECT stop_reason IS NOT NULL FROM turns WHERE turn_id = ?", (turn,)).get or False
    )


def end(db: apsw.Connection, turn: TurnId, state: TurnState, now: datetime) -> None:
    """The turn is over; its view is kept no longer."""
    db.execute(
        "UPDATE turns SET state = ?, end_time = ?, view = '', state_block = '' WHERE turn_id = ?",
        (state, micros(now), turn),
    )


def last(db: apsw.Connection, agent: AgentId) -> LastTurn | None:
    """The newest turn of `agent`; None before its first."""
    row = db.execute(
        "SELECT begin_time, state FROM turns WHERE agent_id = ? ORDER BY begin_time DESC LIMIT 1", (agent,)
    ).fetchone()
    return None if row is None else LastTurn(begin_time=instant(row[0]), state=TurnState(row[1]))
