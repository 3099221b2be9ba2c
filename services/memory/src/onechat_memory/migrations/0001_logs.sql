-- Logs and their messages. A message is never edited, and goes only with its whole log; a log's row moves with it.
CREATE TABLE logs (
    number INTEGER PRIMARY KEY AUTOINCREMENT, -- what the other tables name a log by; an id can move to another log
    id TEXT NOT NULL UNIQUE,
    label TEXT NOT NULL,
    shape TEXT NOT NULL CHECK (shape IN ('tree', 'flat')),
    state TEXT NOT NULL CHECK (state IN ('live', 'staged', 'kept')),
    chat_high INTEGER NOT NULL,
    chat_low INTEGER NOT NULL,
    compaction_high INTEGER NOT NULL,
    compaction_low INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    create_time INTEGER NOT NULL,
    length INTEGER NOT NULL DEFAULT 0,
    revision INTEGER NOT NULL DEFAULT 0, -- raised by every change, so that what is held in memory can be checked
    chat_owed INTEGER NOT NULL DEFAULT 0, -- whether a batch of merges has begun and not ended
    compaction_owed INTEGER NOT NULL DEFAULT 0,
    batches INTEGER NOT NULL DEFAULT 0,
    built_nodes INTEGER NOT NULL DEFAULT 0,
    built_leaves INTEGER NOT NULL DEFAULT 0,
    degraded_nodes INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE messages (
    log INTEGER NOT NULL REFERENCES logs (number),
    id INTEGER NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    time INTEGER NOT NULL,
    zone TEXT NOT NULL,
    key TEXT NOT NULL, -- the pieces of one long text share it
    body_hash BLOB NOT NULL, -- of the whole text, for all its pieces
    source TEXT NOT NULL,
    turn TEXT NOT NULL,
    step INTEGER NOT NULL,
    call TEXT NOT NULL,
    images TEXT NOT NULL, -- a JSON list of stored names
    part INTEGER NOT NULL,
    parts INTEGER NOT NULL,
    PRIMARY KEY (log, id)
) STRICT;

CREATE UNIQUE INDEX messages_by_key ON messages (log, key, part);
CREATE INDEX messages_by_source ON messages (log, source, id) WHERE source <> '';
