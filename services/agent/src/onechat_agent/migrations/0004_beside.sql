-- What people read of a proposal beside its arguments.

ALTER TABLE proposals ADD COLUMN beside TEXT NOT NULL DEFAULT '{}'; -- JSON: an argument's name to such words
