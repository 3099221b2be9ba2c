-- The owner's private chat. Instants are microseconds since 1970, UTC. The inbox is the runtime's outbox table.

-- A bot is a token's number; each has its own place in its updates.
CREATE TABLE bots (
    bot INTEGER PRIMARY KEY,
    next_offset INTEGER NOT NULL -- sent with the next getUpdates; update ids before it are done with
) STRICT;

-- At most one row: who owns the bot by pairing, or by having written when the settings named them.
CREATE TABLE owner (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    user INTEGER NOT NULL,
    time INTEGER NOT NULL
) STRICT;

-- At most one row: the code that makes a chat the owner's; gone once it did.
CREATE TABLE pairing (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    code TEXT NOT NULL
) STRICT;

-- When somebody else was last told that the bot is not theirs.
CREATE TABLE refusals (
    user INTEGER PRIMARY KEY,
    time INTEGER NOT NULL
) STRICT;

-- At most one row: the place in the agent's events.
CREATE TABLE place (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    stream TEXT NOT NULL,
    taken INTEGER NOT NULL, -- pieces of events up to here are in the table below
    sent_event INTEGER NOT NULL, -- the last piece that is in the chat
    sent_piece INTEGER NOT NULL
) STRICT;

CREATE TABLE pieces (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    origin TEXT NOT NULL, -- "event:STREAM:NUMBER" or "update:KEY"
    event INTEGER NOT NULL, -- 0 for what answers an update
    piece INTEGER NOT NULL, -- its place in its reply, from 0
    chat INTEGER NOT NULL,
    text TEXT NOT NULL, -- '' once it is sent
    entities TEXT NOT NULL, -- JSON
    plain TEXT NOT NULL,
    state TEXT NOT NULL,
    repeats INTEGER NOT NULL,
    message INTEGER, -- Telegram's id of it, once it is sent
    time INTEGER NOT NULL, -- of the last change of state
    trace TEXT NOT NULL,
    UNIQUE (origin, piece)
) STRICT;

CREATE INDEX pieces_to_send ON pieces (number) WHERE state IN ('waiting', 'sending');
CREATE INDEX pieces_by_time ON pieces (time);
