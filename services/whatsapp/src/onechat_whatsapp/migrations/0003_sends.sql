-- What was sent for the agent, or may have been. Instants are microseconds since 1970, UTC.

CREATE TABLE sends (
    number INTEGER PRIMARY KEY AUTOINCREMENT, -- in the order in which their ids were used first
    request_id TEXT NOT NULL UNIQUE,
    chat TEXT NOT NULL, -- the id as it was asked for
    digest BLOB NOT NULL, -- SHA-256 of text and image; neither is kept
    state TEXT NOT NULL, -- sending, sent, unknown, failed
    message_id TEXT NOT NULL, -- WhatsApp's own; '' while it is not known
    failure TEXT NOT NULL, -- why it failed, a sentence of ours; else ''
    time INTEGER NOT NULL -- when the id was used first
) STRICT;

CREATE INDEX sends_at_work ON sends (number) WHERE state = 'sending';
