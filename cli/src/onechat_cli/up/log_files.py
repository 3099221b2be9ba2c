"""A log that never grows past its files: NAME.log, NAME.log.1, …, each of at most 10 MB. Sizes are bytes."""

import os
from pathlib import Path
from typing import Final

FILE_MAX: Final = 10 * 1000 * 1000
FILES: Final = 5


class RotatingLog:
    """Files 0600; `path` is the newest. A full disk or a missing folder loses lines, no more."""

    def __init__(self, path: Path, *, file_max: int = FILE_MAX, files: int = FILES) -> None:
        self.path = path
        self._file_max = file_max
        self._files = files
        self._file: int | None = None
        self._size = 0
        self._whole_line = True

    def write(self, output: bytes) -> None:
        """Append `output`, and begin a new file behind the line that fills this one."""
        try:
            for line in output.splitlines(keepends=True):
                if self._size + len(line) > self._file_max and self._whole_line and self._size:
                    self._rotate()
                self._append(line)
        except OSError:
            self.close()

    def close(self) -> None:
        """Let the file go; a later write opens it again."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _append(self, line: bytes) -> None:
        if self._file is None:
            self._file = os.open(self.path, os.O_CREAT | os.O_APPEND | os.O_WRONLY | os.O_NOFOLLOW, 0o600)
            self._size = os.fstat(self._file).st_size
        os.write(self._file, line)
        self._size += len(line)
        self._whole_line = line.endswith(b"\n")

    def _rotate(self) -> None:
        self.close()
        for number in range(self._files - 1, 0, -1):
            older = self._numbered(number - 1)
            if older.exists():
                older.replace(self._numbered(number))
        self._size = 0

    def _numbered(self, number: int) -> Path:
        return self.path if number == 0 else self.path.with_name(f"{self.path.name}.{number}")
