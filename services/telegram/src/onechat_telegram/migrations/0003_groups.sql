-- Group chats, of whatever platform: ids are the platform's own, as text. Instants are microseconds since 1970, UTC.

CREATE TABLE groups (
    chat TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    state TEXT NOT NULL, -- asked, admitted or left
    source TEXT NOT NULL UNIQUE, -- what the agent service knows it by; stays when the platform changes the chat's id
    agent TEXT NOT NULL, -- the group agent's id; '' before the first admission
    detector TEXT NOT NULL,
    names TEXT NOT NULL, -- JSON
    ask_model INTEGER NOT NULL,
    learn INTEGER NOT NULL,
    private_chats INTEGER NOT NULL,
    time INTEGER NOT NULL -- of the last change of state
) STRICT;

-- Earlier ids of chats: answers to what was handed over under them come still.
CREATE TABLE group_moves (
    old TEXT PRIMARY KEY,
    new TEXT NOT NULL
) STRICT;

-- Every message that was taken, so that one that comes again is not taken twice; kept some days.
CREATE TABLE group_heard (
    number INTEGER PRIMARY KEY AUTOINCREMENT, -- the order in which they came
    key TEXT NOT NULL UNIQUE,
    chat TEXT NOT NULL,
    thread TEXT NOT NULL,
    own INTEGER NOT NULL, -- whether the bot wrote it
    line TEXT NOT NULL, -- what a detector sees of it; '' but for the last few of a thread
    time INTEGER NOT NULL -- when it was taken
) STRICT;

CREATE INDEX group_heard_by_thread ON group_heard (chat, thread, number);
CREATE INDEX group_heard_by_time ON group_heard (time);

-- Messages of open batches. A batch is all that is here of a chat.
CREATE TABLE group_batched (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    chat TEXT NOT NULL,
    line TEXT NOT NULL, -- worded for the agent
    images TEXT NOT NULL, -- JSON
    written INTEGER NOT NULL,
    came INTEGER NOT NULL
) STRICT;

CREATE INDEX group_batched_by_chat ON group_batched (chat, number);

-- Which group a member means in the private chat.
CREATE TABLE group_choices (
    member TEXT PRIMARY KEY,
    chat TEXT NOT NULL, -- '' while it is asked
    offered TEXT NOT NULL, -- JSON: the chats, in the order in which they were offered
    time INTEGER NOT NULL
) STRICT;

-- Private messages that wait for the answer.
CREATE TABLE group_held (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    member TEXT NOT NULL,
    key TEXT NOT NULL UNIQUE,
    body TEXT NOT NULL -- JSON
) STRICT;

CREATE INDEX group_held_by_member ON group_held (member, number);

-- Who was asked to confirm that a group's memory is to be cleared.
CREATE TABLE group_confirms (
    chat TEXT NOT NULL,
    member TEXT NOT NULL,
    time INTEGER NOT NULL,
    PRIMARY KEY (chat, member)
) STRICT;
