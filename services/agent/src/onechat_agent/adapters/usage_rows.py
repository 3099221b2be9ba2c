"""The usage records' rows; every function works inside the caller's transaction."""

import apsw

from onechat_agent.domain.chat import AgentId
from onechat_agent.domain.usage import Purpose, UsageRecord
from onechat_agent.model.items import TokenUsage


def count(
    db: apsw.Connection,
    *,
    day: str,
    agent: AgentId,
    model: str,
    purpose: Purpose,
    tokens: TokenUsage,
    cost_millionths: int | None,
) -> None:
    """Adds one call to its day."""
    db.execute(
        "INSERT INTO usage VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (day, agent_id, model, purpose) DO UPDATE SET calls = calls + 1,"
        " input_tokens = input_tokens + excluded.input_tokens,"
        " cached_input_tokens = cached_input_tokens + excluded.cached_input_tokens,"
        " output_tokens = output_tokens + excluded.output_tokens,"
        " reasoning_tokens = reasoning_tokens + excluded.reasoning_tokens,"
        " cost_millionths = cost_millionths + excluded.cost_millionths,"
        " unpriced_calls = unpriced_calls + excluded.unpriced_calls",
        (
            day,
            agent,
            model,
            purpose,
            tokens.input,
            tokens.cached_input,
            tokens.output,
            tokens.reasoning,
            cost_millionths or 0,
            cost_millionths is None,
        ),
    )


def tokens_of_day(db: apsw.Connection, agent: AgentId, day: str) -> int:
    """Tokens in and out that `agent` used on `day`."""
    tokens = db.execute(
        "SELECT coalesce(sum(input_tokens + output_tokens), 0) FROM usage WHERE agent_id = ? AND day = ?",
        (agent, day),
    ).get
    return int(tokens)


def between(db: apsw.Connection, since: str, until: str, *, limit: int, offset: int) -> list[UsageRecord]:
    """A page of the records of the days `since` to `until`, newest first."""
    rows = db.execute(
        "SELECT day, u.agent_id, coalesce(a.name, ''), model, purpose, calls, input_tokens,"
        " cached_input_tokens, output_tokens, reasoning_tokens,"
        " CASE WHEN unpriced_calls = 0 THEN cost_millionths END"
        " FROM usage u LEFT JOIN agents a USING (agent_id) WHERE day >= ? AND day <= ?"
        " ORDER BY day DESC, a.name, u.agent_id, model, purpose LIMIT ? OFFSET ?",
        (since, until, limit, offset),
    )
    return [
        UsageRecord(
            day=row[0],
            agent=AgentId(row[1]),
            agent_name=row[2],
            model=row[3],
            purpose=Purpose(row[4]),
            calls=row[5],
            input=row[6],
            cached_input=row[7],
            output=row[8],
            reasoning=row[9],
            cost_millionths=row[10],
        )
        for row in rows
    ]


def other_model_than(db: apsw.Connection, model: str) -> bool:
    """Whether any call was made to another model than `model`."""
    return bool(db.execute("SELECT EXISTS (SELECT 1 FROM usage WHERE model <> ?)", (model,)).get)
