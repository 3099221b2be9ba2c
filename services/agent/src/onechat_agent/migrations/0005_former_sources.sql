-- Chats that have two ids.

CREATE TABLE former_sources (
    former TEXT PRIMARY KEY,            -- such as whatsapp:LID; never in use itself
    source TEXT NOT NULL UNIQUE         -- the id in use, which routes are kept by
) STRICT, WITHOUT ROWID;
