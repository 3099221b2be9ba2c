-- Built nodes that are to be built again, at the user's wish; each keeps its line until the new one comes.
CREATE TABLE rebuilds (
    log INTEGER NOT NULL,
    last INTEGER NOT NULL,
    level INTEGER NOT NULL,
    PRIMARY KEY (log, last, level)
) STRICT, WITHOUT ROWID;

-- So that finding them looks at no other node.
CREATE INDEX nodes_poorly_built ON nodes (log, level, place, degraded, builder)
WHERE degraded = 1 OR builder = 'demo';

-- A deleted log is gone at once for every call; its rows go bit by bit, and its own row last.
ALTER TABLE logs ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0;
CREATE INDEX logs_deleted ON logs (number) WHERE deleted = 1;
