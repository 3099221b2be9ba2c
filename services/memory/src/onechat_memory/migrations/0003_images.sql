-- Stored images: the file lies beside the store under its name, written before its row.
CREATE TABLE images (
    name TEXT NOT NULL PRIMARY KEY, -- 16 hex digits of the content's SHA-256, and the type's ending
    sha256 BLOB NOT NULL,
    size INTEGER NOT NULL, -- bytes
    time INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
