-- What goes out beside text: pictures, questions with buttons and how they ended, answers in a group's topic.

ALTER TABLE pieces ADD COLUMN kind TEXT NOT NULL DEFAULT 'text'; -- text, photo, document, question, outcome
ALTER TABLE pieces ADD COLUMN image TEXT NOT NULL DEFAULT ''; -- a picture's stored name
ALTER TABLE pieces ADD COLUMN stream TEXT NOT NULL DEFAULT ''; -- of a question and its outcome: the agent's
ALTER TABLE pieces ADD COLUMN proposal INTEGER NOT NULL DEFAULT 0; -- its number; 0 for anything else
ALTER TABLE pieces ADD COLUMN bot INTEGER NOT NULL DEFAULT 0; -- who sent it: message ids are each bot's own
ALTER TABLE pieces ADD COLUMN answers INTEGER NOT NULL DEFAULT 0; -- the message it replies to; 0 for none
ALTER TABLE pieces ADD COLUMN topic INTEGER NOT NULL DEFAULT 0; -- the thread it belongs to; 0 for none

CREATE INDEX pieces_of_proposals ON pieces (stream, proposal) WHERE proposal > 0;

-- Messages that show a text as it comes: to be deleted once its turn is over.
CREATE TABLE drafts (
    bot INTEGER NOT NULL,
    chat INTEGER NOT NULL,
    message INTEGER NOT NULL,
    PRIMARY KEY (bot, chat, message)
) STRICT, WITHOUT ROWID;
