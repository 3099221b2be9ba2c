-- What is handed over as one message, decided before it is, so that a repeat after a kill holds the same.

CREATE TABLE joined (
    head TEXT PRIMARY KEY, -- the inbox's key of the update that is handed over for all
    keys TEXT NOT NULL -- JSON: the inbox's keys of all, the head's too
) STRICT, WITHOUT ROWID;
