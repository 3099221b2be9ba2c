-- The words of messages, in the form of domain/words.py. Filled after the messages, up to each log's mark.
CREATE VIRTUAL TABLE message_words USING fts5 (words, content='', contentless_delete=1, tokenize='ascii');

ALTER TABLE logs ADD COLUMN indexed INTEGER NOT NULL DEFAULT 0; -- messages whose words the index holds
