-- The bytes of each view, all its lines together: what a start would else have to read from a node for each line.
ALTER TABLE logs ADD COLUMN chat_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE logs ADD COLUMN compaction_bytes INTEGER NOT NULL DEFAULT 0;

-- A line without a node is a message that is not built, and counts the 29 bytes of what is shown in its place.
UPDATE logs SET
    chat_bytes = (
        SELECT coalesce(sum(coalesce(octet_length(n.text), 29)), 0) FROM view_lines AS v
        LEFT JOIN nodes AS n ON n.log = v.log AND n.last = v.first + (1 << v.level) - 1 AND n.level = v.level
        WHERE v.log = logs.number AND v.view = 'chat'
    ),
    compaction_bytes = (
        SELECT coalesce(sum(coalesce(octet_length(n.text), 29)), 0) FROM view_lines AS v
        LEFT JOIN nodes AS n ON n.log = v.log AND n.last = v.first + (1 << v.level) - 1 AND n.level = v.level
        WHERE v.log = logs.number AND v.view = 'compaction'
    );
