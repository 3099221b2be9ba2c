-- Children and subagents, what passes between agents, and proposals. Times are microseconds since 1970, UTC.

-- A removed agent's name is free again, and no two names differ by the case of their letters alone.
CREATE TABLE agents_now (
    agent_id TEXT PRIMARY KEY,          -- random; the log's id too
    name TEXT NOT NULL COLLATE NOCASE,
    role TEXT NOT NULL,                 -- root, child, subagent, group
    parent_id TEXT,                     -- a child's root, a subagent's owner
    state TEXT NOT NULL,                -- domain/agent.py
    area TEXT NOT NULL DEFAULT '',      -- a child's
    effort TEXT NOT NULL DEFAULT '',    -- a subagent's, when its owner chose one
    spawned INTEGER NOT NULL DEFAULT 0, -- subagents that it has had; their numbers are never reused
    results_from INTEGER NOT NULL DEFAULT 0, -- of a subagent's log: results before this message are pointers
    generation INTEGER NOT NULL DEFAULT 0, -- of its log, as it was last read; what events of it carry
    create_time INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO agents_now (agent_id, name, role, parent_id, state, generation, create_time)
SELECT agent_id, name, role, parent_id, state,
       coalesce((SELECT max(generation) FROM turns WHERE turns.agent_id = agents.agent_id), 0), create_time
FROM agents;

CREATE TABLE routes_now (
    source TEXT PRIMARY KEY,            -- whatsapp:CHAT-ID
    agent_id TEXT NOT NULL REFERENCES agents_now (agent_id),
    create_time INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO routes_now SELECT source, agent_id, create_time FROM routes;

DROP TABLE routes;
DROP TABLE agents;
ALTER TABLE agents_now RENAME TO agents;
ALTER TABLE routes_now RENAME TO routes;
CREATE UNIQUE INDEX agents_by_name ON agents (name) WHERE state <> 'removed';
CREATE INDEX agents_by_parent ON agents (parent_id, role);

CREATE TABLE proposals (
    number INTEGER PRIMARY KEY AUTOINCREMENT, -- what the user answers by
    agent_id TEXT NOT NULL,
    turn TEXT NOT NULL,
    call_key TEXT NOT NULL UNIQUE,      -- a call that is made again after a restart proposes once
    tool TEXT NOT NULL,
    arguments TEXT NOT NULL,            -- JSON, exactly as they will run
    workdir TEXT NOT NULL,              -- where it runs
    target TEXT NOT NULL,               -- the file that write or edit would change, without links
    text TEXT NOT NULL,                 -- what people are shown
    state TEXT NOT NULL,                -- open, approved, done, failed, unknown, refused, expired
    outcome TEXT NOT NULL DEFAULT '',
    create_time INTEGER NOT NULL,
    expire_time INTEGER NOT NULL
) STRICT;
CREATE INDEX proposals_by_turn ON proposals (turn);
CREATE INDEX proposals_by_state ON proposals (state, expire_time);

ALTER TABLE deliveries ADD COLUMN meant_for TEXT NOT NULL DEFAULT ''; -- whom it was for, if that one is gone
CREATE INDEX deliveries_by_group ON deliveries (group_key) WHERE group_key <> '';
CREATE INDEX deliveries_without_turn ON deliveries (agent_id) WHERE state = 'done' AND turn IS NULL;
