-- Nodes in the order in which they come to be, by their last message: what one append builds lies together at the
-- table's end, not in a place of its own for each level.
ALTER TABLE nodes RENAME TO nodes_by_level;

CREATE TABLE nodes (
    log INTEGER NOT NULL REFERENCES logs (number),
    last INTEGER NOT NULL, -- the last message that the node stands for
    level INTEGER NOT NULL,
    text TEXT NOT NULL,
    builder TEXT NOT NULL, -- free, head, demo, or the model's name
    time INTEGER NOT NULL,
    degraded INTEGER NOT NULL,
    place INTEGER AS (last >> level), -- its index within its level
    PRIMARY KEY (log, last, level)
) STRICT, WITHOUT ROWID;

INSERT INTO nodes (log, last, level, text, builder, time, degraded)
SELECT log, ((place + 1) << level) - 1 AS last, level, text, builder, time, degraded FROM nodes_by_level
ORDER BY log, last, level;

DROP TABLE nodes_by_level;

-- So that finding them looks at no other node.
CREATE INDEX nodes_poorly_built ON nodes (log, last, level, degraded, builder)
WHERE degraded = 1 OR builder = 'demo';

-- It was written anew at every append; there are few logs, and looking through them costs less.
DROP INDEX logs_behind;
