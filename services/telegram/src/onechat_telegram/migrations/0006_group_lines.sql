-- The few lines that detectors see, among the many messages of a thread that are only known.

CREATE INDEX group_heard_lines ON group_heard (chat, thread, number) WHERE line != '';
