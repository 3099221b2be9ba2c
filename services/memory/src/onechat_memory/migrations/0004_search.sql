-- The words of messages, in the form of adapters/search.py; a row's id is made of its log and its message.
-- Filled after the messages, up to each log's mark.
CREATE VIRTUAL TABLE message_words USING fts5 (
    words, content='', contentless_delete=1, tokenize="ascii tokenchars '_*'"
);

-- It merges only when told to, some pages at a time: left to itself it holds up a commit for long.
INSERT INTO message_words (message_words, rank) VALUES ('automerge', 0), ('crisismerge', 1999), ('usermerge', 8);

ALTER TABLE logs ADD COLUMN indexed INTEGER NOT NULL DEFAULT 0; -- messages whose words the index holds
CREATE INDEX logs_behind ON logs (number) WHERE indexed < length;
