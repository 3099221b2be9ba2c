"""`onechat tokens`: the token files of a deployment, a folder for each caller, so that each sees its own.

Each folder may be a volume of its own; nothing is written beside them. On one machine the services make their
own in the data folder (onechat_runtime.tokens).
"""

import json
import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from onechat_runtime.data_folder import unusable
from onechat_runtime.errors import StartRefused
from onechat_runtime.tokens import CALLERS, HASHES, hash_of, read_token

from onechat_cli.outcome import Exit

LISTED: Final = "callers"  #: the folder of what servers need: hashes, no tokens
TOKEN: Final = "token"  # noqa: S105 - a file's name
_TOKEN_BYTES: Final = 32


def make_tokens(folder: Path, owners: Sequence[tuple[str, int, int]]) -> Exit:
    """Make what is missing in `folder`: CALLER/token and callers/callers.json, files 0600 in folders 0700.

    A token that is there is kept, whoever else runs this at the same time. `owners` are (name, uid, gid).
    StartRefused where a folder cannot be written.
    """
    names = (*CALLERS, LISTED)
    for name, _, _ in owners:
        if name not in names:
            raise StartRefused(f"--owner {name}: there is nobody of that name but {', '.join(names)}.")
    owner_of = {name: (uid, gid) for name, uid, gid in owners}
    at = folder
    try:
        hashes = {}
        for caller in CALLERS:
            at = folder / caller / TOKEN
            _make_folder(at.parent)
            if not at.exists():
                _create(at, f"{secrets.token_urlsafe(_TOKEN_BYTES)}\n")
            hashes[caller] = hash_of(read_token(at))
            _give(at, owner_of.get(caller))
        at = folder / LISTED / HASHES
        _make_folder(at.parent)
        listed = json.dumps(hashes, indent=2) + "\n"
        if not at.exists() or at.read_text(encoding="utf-8") != listed:
            _write_aside(at, listed).replace(at)
        _give(at, owner_of.get(LISTED))
    except OSError as error:
        raise unusable(at, error) from None
    return Exit.OK


def _make_folder(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def _give(path: Path, owner: tuple[int, int] | None) -> None:
    """Close `path` and its folder to all but the owner, who may be made another."""
    path.chmod(0o600)
    path.parent.chmod(0o700)
    if owner is not None:
        os.chown(path, *owner)
        os.chown(path.parent, *owner)


def _create(path: Path, text: str) -> None:
    """Make `path` with `text` unless another process was first; never half-written."""
    aside = _write_aside(path, text)
    with suppress(FileExistsError):
        os.link(aside, path)
    aside.unlink()


def _write_aside(path: Path, text: str) -> Path:
    aside = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    file = os.open(aside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(file, "w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(file)
    return aside
