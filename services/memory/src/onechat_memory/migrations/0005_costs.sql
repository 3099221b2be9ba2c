-- What a log's lines have cost in model calls.
ALTER TABLE logs ADD COLUMN model_lines INTEGER NOT NULL DEFAULT 0; -- lines that a model wrote
ALTER TABLE logs ADD COLUMN model_calls INTEGER NOT NULL DEFAULT 0;
ALTER TABLE logs ADD COLUMN over_length_answers INTEGER NOT NULL DEFAULT 0; -- no line of them was short enough
ALTER TABLE logs ADD COLUMN retries INTEGER NOT NULL DEFAULT 0; -- calls that asked again for the same line

-- Of calls that gave no line yet, so that the next one is known to ask again. A row can have no failure then.
ALTER TABLE failures ADD COLUMN calls INTEGER NOT NULL DEFAULT 0;
