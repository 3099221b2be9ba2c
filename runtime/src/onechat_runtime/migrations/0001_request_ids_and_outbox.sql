-- Times are microseconds since 1970, UTC.

CREATE TABLE request_ids (
    request_id TEXT PRIMARY KEY,
    body_sha256 BLOB NOT NULL,
    answer BLOB NOT NULL,
    time INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX request_ids_time ON request_ids (time);

-- One row a hand-over that is not answered yet. AUTOINCREMENT: an order number is never given twice.
CREATE TABLE outbox (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    lane TEXT NOT NULL,
    body BLOB NOT NULL,
    time INTEGER NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0,
    set_aside_time INTEGER,
    trace TEXT NOT NULL DEFAULT '',
    UNIQUE (kind, key)
) STRICT;
CREATE INDEX outbox_waiting ON outbox (lane, number) WHERE set_aside_time IS NULL;
