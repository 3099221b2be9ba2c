-- A message is one row under one integer, and is its own line where it can be: an append writes the same text once
-- and no row for the lines of the two views.
ALTER TABLE logs ADD COLUMN chat_lines INTEGER NOT NULL DEFAULT 0; -- of each view, as many as it has
ALTER TABLE logs ADD COLUMN compaction_lines INTEGER NOT NULL DEFAULT 0;

UPDATE logs SET
    chat_lines = (SELECT count(*) FROM view_lines AS v WHERE v.log = logs.number AND v.view = 'chat'),
    compaction_lines = (SELECT count(*) FROM view_lines AS v WHERE v.log = logs.number AND v.view = 'compaction');

-- From here on a row stands for a line that merged, level 1 and above. All other messages are lines of their own.
DELETE FROM view_lines WHERE level = 0;

ALTER TABLE messages RENAME TO messages_by_row;

CREATE TABLE messages (
    row_id INTEGER PRIMARY KEY, -- log << 40 | id; adapters/row_ids.py
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
    -- When its leaf was built, if that is 'kind: text' as it stands (builder free) and so has no row in nodes;
    -- NULL for a leaf that a model writes, and in a flat log.
    line_time INTEGER,
    log INTEGER AS (row_id >> 40) REFERENCES logs (number),
    id INTEGER AS (row_id & 0xffffffffff)
) STRICT;

INSERT INTO messages (
    row_id, kind, text, time, zone, key, body_hash, source, turn, step, call, images, part, parts, line_time
)
SELECT
    m.log << 40 | m.id AS row_id, m.kind, m.text, m.time, m.zone, m.key, m.body_hash, m.source, m.turn, m.step,
    m.call, m.images, m.part, m.parts, n.time
FROM messages_by_row AS m LEFT JOIN nodes AS n
    ON n.log = m.log AND n.last = m.id AND n.level = 0 AND n.builder = 'free'
    AND n.text = m.kind || ': ' || m.text
ORDER BY m.log, m.id; -- as row_id, along an index: sorting would hold every message in memory at once

DROP TABLE messages_by_row;
CREATE UNIQUE INDEX messages_by_key ON messages (log, key, part);
CREATE INDEX messages_by_source ON messages (log, source) WHERE source <> ''; -- then by row_id, so by id

DELETE FROM nodes WHERE level = 0 AND builder = 'free' AND EXISTS (
    SELECT 1 FROM messages AS m WHERE m.row_id = nodes.log << 40 | nodes.last AND m.line_time IS NOT NULL
);
