-- The agent service's first schema. Times are microseconds since 1970, UTC.

CREATE TABLE facts (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE agents (
    agent_id TEXT PRIMARY KEY,          -- random; the log's id too
    name TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,                 -- root, child, subagent, group
    parent_id TEXT,
    state TEXT NOT NULL,                -- creating, ready, removed
    create_time INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE routes (
    source TEXT PRIMARY KEY,            -- whatsapp:CHAT-ID
    agent_id TEXT NOT NULL REFERENCES agents (agent_id),
    create_time INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE deliveries (
    delivery_id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,           -- kept for ever, with the hash of the body
    body_hash BLOB NOT NULL,
    agent_id TEXT NOT NULL,
    source TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    images TEXT NOT NULL,               -- JSON list of stored names
    time INTEGER NOT NULL,
    wakes INTEGER NOT NULL,
    reply_to TEXT NOT NULL,             -- JSON [chat, message, topic]
    backed INTEGER NOT NULL,
    tainted INTEGER NOT NULL,
    hops INTEGER NOT NULL,
    group_key TEXT NOT NULL,
    group_count INTEGER NOT NULL,
    state TEXT NOT NULL,
    turn TEXT,
    place INTEGER,                      -- its place among the turn's deliveries, from 0
    shown INTEGER NOT NULL DEFAULT 1,   -- 0: logged before the turn's view was read, not shown whole
    accept_time INTEGER NOT NULL
) STRICT;
CREATE INDEX deliveries_open ON deliveries (agent_id, delivery_id) WHERE state = 'queued';
CREATE INDEX deliveries_by_turn ON deliveries (turn, place) WHERE turn IS NOT NULL;

CREATE TABLE turns (
    turn_id TEXT PRIMARY KEY,
    agent_id TEXT NOT NULL,
    state TEXT NOT NULL,                -- begun, ended, stopped, failed
    begin_time INTEGER NOT NULL,
    end_time INTEGER,
    log_start INTEGER NOT NULL,         -- T0: the log's length as its view was read
    generation INTEGER NOT NULL,
    view TEXT NOT NULL,                 -- frozen; emptied when the turn is over
    state_block TEXT NOT NULL,
    backed INTEGER NOT NULL,
    tainted INTEGER NOT NULL,
    rollovers INTEGER NOT NULL DEFAULT 0,
    steps_before INTEGER NOT NULL DEFAULT 0,  -- steps that the view holds since the last roll-over
    starts INTEGER NOT NULL DEFAULT 1,  -- in a row without a new message in the log
    start_length INTEGER NOT NULL,      -- the log's length at the last start
    stop_reason TEXT                    -- set when a stop was asked for, before it is carried out
) STRICT, WITHOUT ROWID;
CREATE INDEX turns_open ON turns (agent_id) WHERE state = 'begun';
CREATE INDEX turns_by_agent ON turns (agent_id, begin_time);

CREATE TABLE events (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    agent_id TEXT NOT NULL,
    agent_name TEXT NOT NULL,
    audience TEXT NOT NULL,
    turn TEXT,
    time INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    form TEXT NOT NULL,                 -- which body
    body TEXT NOT NULL                  -- JSON
) STRICT;
CREATE INDEX events_by_time ON events (time);

CREATE TABLE usage (
    day TEXT NOT NULL,                  -- the user's, YYYY-MM-DD
    agent_id TEXT NOT NULL,
    model TEXT NOT NULL,
    purpose TEXT NOT NULL,
    calls INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    cached_input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    reasoning_tokens INTEGER NOT NULL,
    cost_millionths INTEGER NOT NULL,
    unpriced_calls INTEGER NOT NULL,    -- calls whose price was unknown
    PRIMARY KEY (day, agent_id, model, purpose)
) STRICT, WITHOUT ROWID;
