-- Nodes, the queues of what can be built, and the views. `place` is a node's index within its level.
CREATE TABLE nodes (
    log INTEGER NOT NULL REFERENCES logs (number),
    level INTEGER NOT NULL,
    place INTEGER NOT NULL,
    text TEXT NOT NULL,
    builder TEXT NOT NULL, -- free, head, demo, or the model's name
    time INTEGER NOT NULL,
    degraded INTEGER NOT NULL,
    PRIMARY KEY (log, level, place)
) STRICT, WITHOUT ROWID;

-- Leaves that wait for a model, oldest first; the first eight of a log are ready.
CREATE TABLE unbuilt_leaves (
    log INTEGER NOT NULL,
    message INTEGER NOT NULL,
    PRIMARY KEY (log, message)
) STRICT, WITHOUT ROWID;

-- Merges of which both halves are built, the one with the oldest last message first.
CREATE TABLE ready_merges (
    log INTEGER NOT NULL,
    last INTEGER NOT NULL,
    level INTEGER NOT NULL,
    PRIMARY KEY (log, last, level)
) STRICT, WITHOUT ROWID;

-- How often a node's content failed; the row goes when the node is built.
CREATE TABLE failures (
    log INTEGER NOT NULL,
    level INTEGER NOT NULL,
    place INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (log, level, place)
) STRICT, WITHOUT ROWID;

-- A row per line: the first message and the level name its node.
CREATE TABLE view_lines (
    log INTEGER NOT NULL,
    view TEXT NOT NULL CHECK (view IN ('chat', 'compaction')),
    first INTEGER NOT NULL,
    level INTEGER NOT NULL,
    PRIMARY KEY (log, view, first)
) STRICT, WITHOUT ROWID;
