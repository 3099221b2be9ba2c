-- What Telegram has told of groups beside their messages, and who the bot is there.

CREATE TABLE profiles (
    bot INTEGER PRIMARY KEY,
    user_name TEXT NOT NULL,
    name TEXT NOT NULL,
    hears_all INTEGER NOT NULL -- whether privacy mode is off
) STRICT;

-- Basic groups that the bot is in: each may become a supergroup, which is another chat.
CREATE TABLE basic_groups (
    chat INTEGER PRIMARY KEY
) STRICT;

-- Supergroups that were basic groups before.
CREATE TABLE upgrades (
    new INTEGER PRIMARY KEY,
    old INTEGER NOT NULL,
    join_due INTEGER NOT NULL -- whether Telegram has still to tell that the bot is in it, which is nothing new
) STRICT;

CREATE TABLE topics (
    chat INTEGER NOT NULL,
    thread INTEGER NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (chat, thread)
) STRICT, WITHOUT ROWID;
