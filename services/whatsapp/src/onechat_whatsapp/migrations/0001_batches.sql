-- Messages from their arrival until the agent service has them. Instants are microseconds since 1970, UTC.

-- Every message that was taken, so that one that comes again is not taken twice; kept for some months.
CREATE TABLE heard (
    chat TEXT NOT NULL, -- as it is shown to the agent
    message TEXT NOT NULL, -- WhatsApp's id
    time INTEGER NOT NULL, -- when it was taken
    PRIMARY KEY (chat, message)
) STRICT, WITHOUT ROWID;

CREATE INDEX heard_by_time ON heard (time);

-- Messages of open batches. Outside of a catch-up, the batch of a chat is all that is here of it.
CREATE TABLE gathered (
    number INTEGER PRIMARY KEY AUTOINCREMENT, -- the order in which they came
    chat TEXT NOT NULL,
    message TEXT NOT NULL,
    chat_name TEXT NOT NULL, -- '' where none is known
    line TEXT NOT NULL, -- worded for the agent
    wakes INTEGER NOT NULL, -- whether it wakes the root
    written INTEGER NOT NULL, -- by WhatsApp's clock
    came INTEGER NOT NULL -- by ours
) STRICT;

CREATE INDEX gathered_by_chat ON gathered (chat, number);

-- Chats that have two ids, each with the one in use and the one that it was known by, or may be.
CREATE TABLE other_ids (
    chat TEXT PRIMARY KEY, -- by number
    other TEXT NOT NULL UNIQUE -- by LID
) STRICT, WITHOUT ROWID;

-- Closed batches that the agent service does not have yet.
CREATE TABLE batches (
    number INTEGER PRIMARY KEY AUTOINCREMENT, -- the order in which they are handed over
    key TEXT NOT NULL UNIQUE, -- the delivery's
    chat TEXT NOT NULL,
    other TEXT NOT NULL, -- the chat's other id, as far as it was known at the close; else ''
    text TEXT NOT NULL,
    wakes INTEGER NOT NULL,
    written INTEGER NOT NULL, -- when its last message was written
    parcel TEXT NOT NULL, -- what is handed over in one call, by its key in the outbox
    catch_up TEXT NOT NULL -- what goes into one turn; '' for a batch by itself
) STRICT;

CREATE INDEX batches_by_parcel ON batches (parcel, number);
CREATE INDEX batches_by_catch_up ON batches (catch_up) WHERE catch_up != '';

-- What is handed over as one group.
CREATE TABLE catch_ups (
    id TEXT PRIMARY KEY,
    count INTEGER NOT NULL, -- of its batches, those that the agent service has as well
    begun INTEGER NOT NULL -- whether the agent service may have something of it; then nothing more joins it
) STRICT;
