-- Instants are whole microseconds since 1970, UTC.
-- AUTOINCREMENT: the id of a schedule that was removed is never given again.
CREATE TABLE schedules (
    schedule_id INTEGER PRIMARY KEY AUTOINCREMENT,
    owner_id TEXT NOT NULL,
    text TEXT NOT NULL,
    at TEXT,          -- local time of a one-time schedule, as it was set
    cron TEXT,        -- else the expression
    zone TEXT NOT NULL,  -- in which `at` was read, or `next_time` of a cron schedule was found
    backed INTEGER NOT NULL,
    set_time INTEGER NOT NULL,
    last_time INTEGER NOT NULL,  -- the latest due instant that is recorded or was missed; at first when it was set
    next_time INTEGER,  -- the next due instant after last_time; NULL when none will come
    CHECK ((at IS NULL) <> (cron IS NULL))
) STRICT;
CREATE INDEX schedules_by_next_time ON schedules (next_time, schedule_id);
CREATE INDEX schedules_by_owner ON schedules (owner_id, next_time, schedule_id);

-- What was due and is not yet known to be stored by the agent service: one at most of each schedule, handed
-- over unchanged until it is answered.
CREATE TABLE runs (
    schedule_id INTEGER PRIMARY KEY REFERENCES schedules (schedule_id) ON DELETE CASCADE,
    due_time INTEGER NOT NULL,
    owner_id TEXT NOT NULL,
    text TEXT NOT NULL,  -- as the owner gets it
    backed INTEGER NOT NULL
) STRICT;
CREATE INDEX runs_by_due_time ON runs (due_time, schedule_id);

-- What the store knows of itself: the zone and the edition of the zones' rules by which next times were found.
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
