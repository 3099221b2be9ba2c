-- The link to WhatsApp and its silence. Instants are microseconds since 1970, UTC. The session is a file of its own.

-- At most one row: how the link is.
CREATE TABLE link (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    state TEXT NOT NULL,
    since INTEGER NOT NULL,
    away_told INTEGER NOT NULL, -- whether the user was told of a connection that is not there
    linked_since INTEGER,
    last_connect INTEGER,
    last_disconnect INTEGER,
    ban_end INTEGER,
    away_since INTEGER
) STRICT;

-- At most one row: the time in which nothing comes.
CREATE TABLE quiet (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    last_time INTEGER, -- when something last came from a chat
    connected_s REAL NOT NULL, -- seconds since then with a connection
    told INTEGER NOT NULL
) STRICT;

-- The longest such time that ended on each day of UTC, numbered from 1970.
CREATE TABLE gap_days (
    day INTEGER PRIMARY KEY,
    longest_s REAL NOT NULL
) STRICT;

-- Messages that came and could not be decrypted, until they come after all.
CREATE TABLE undecryptable (
    chat TEXT NOT NULL, -- WhatsApp's id of it
    message TEXT NOT NULL, -- WhatsApp's id
    time INTEGER NOT NULL, -- WhatsApp's
    noticed_time INTEGER NOT NULL, -- ours
    told INTEGER NOT NULL, -- when the user was told; 0: not yet
    PRIMARY KEY (chat, message)
) STRICT;

CREATE INDEX undecryptable_untold ON undecryptable (noticed_time) WHERE told = 0;
