"""What the chat keeps between two runs, in DATA/cli: its place, its history, messages not yet accepted.

Files are 0600 in a folder 0700. Two chats may run on the same folder: each message has a file of its own, and
sending it twice under its key does no harm.
"""

import json
import os
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final

from onechat_runtime.data_folder import claim_folder, unusable

from onechat_cli.domain.happening import Place
from onechat_cli.domain.typed import Typed

FOLDER: Final = "cli"


class Kept:
    """The folder DATA/cli."""

    def __init__(self, data: Path) -> None:
        """Make the folder in `data` if need be; StartRefused when this user cannot write there."""
        self._folder = data / FOLDER
        self._unsent = self._folder / "unsent"
        claim_folder(data, private=False)
        claim_folder(self._folder, private=True)
        claim_folder(self._unsent, private=True)
        self.history = self._folder / "history"
        try:
            os.close(os.open(self.history, os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW, 0o600))
        except OSError as error:
            raise unusable(self.history, error) from None

    def place(self) -> Place | None:
        """Where the last chat was; None before the first, and when the file does not make sense."""
        try:
            found = json.loads((self._folder / "place.json").read_text(encoding="utf-8"))
            return Place(stream=str(found["stream"]), number=int(found["number"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def keep_place(self, place: Place) -> None:
        """Remember `place` for the next run; a full disk only means that some lines will be shown again."""
        with suppress(OSError):
            text = json.dumps({"stream": place.stream, "number": place.number})
            _write(self._folder / "place.json", text, sync=False)

    def unsent(self) -> list[Typed]:
        """The messages that no answer has accepted yet, oldest first."""
        found = []
        for path in sorted(self._unsent.glob("*.json")):
            with suppress(OSError, ValueError, KeyError, TypeError):
                one = json.loads(path.read_text(encoding="utf-8"))
                time = datetime.fromisoformat(one["time"])
                images = tuple(map(str, one.get("images", ())))
                found.append(Typed(key=str(one["key"]), text=str(one["text"]), time=time, images=images))
        return found

    def keep(self, typed: Typed) -> None:
        """Put `typed` on disk until `forget`; OSError when that cannot be."""
        body = {
            "key": typed.key,
            "text": typed.text,
            "time": typed.time.isoformat(),
            "images": typed.images,
        }
        _write(self._path(typed), json.dumps(body), sync=True)

    def forget(self, typed: Typed) -> None:
        """`typed` was accepted, or refused for good."""
        with suppress(OSError):
            self._path(typed).unlink()

    def _path(self, typed: Typed) -> Path:
        return self._unsent / f"{typed.time.timestamp():020.6f}-{typed.key.replace(':', '-')}.json"


def _write(path: Path, text: str, *, sync: bool) -> None:
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    file = os.open(aside, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_NOFOLLOW, 0o600)
    with os.fdopen(file, "w", encoding="utf-8", errors="replace") as stream:
        stream.write(text)
        stream.flush()
        if sync:
            os.fsync(stream.fileno())
    aside.replace(path)
