"""A token for each caller, kept as files; servers know hashes only.

DATA/tokens/<caller> holds a caller's token and DATA/tokens/callers.json the SHA-256 of each, hex. Files are
0600 in 0700. Who may make which call is each service's allow-list (server.py); checking it: interceptors.py.
"""

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Final

from onechat_runtime.data_folder import claim_folder, unusable
from onechat_runtime.errors import StartRefused
from onechat_runtime.settings import ServiceSettings

CALLERS: Final = ("agent", "telegram", "whatsapp", "scheduler", "operator")  # memory calls nobody
FOLDER: Final = "tokens"
HASHES: Final = "callers.json"
HEADER: Final = "authorization"  # "Bearer TOKEN"
_BYTES: Final = 32

caller_at_work: ContextVar[str] = ContextVar("caller_at_work")


def current_caller() -> str:
    """Whose token the rpc at work came with; LookupError outside of one."""
    return caller_at_work.get()


def ensure_tokens(folder: Path) -> None:
    """Make what is missing of DATA/tokens in the data folder `folder`; a token that is there never changes.

    Any number of processes may do this at once: all end with the same files. Raises StartRefused.
    """
    tokens = folder / FOLDER
    claim_folder(tokens, private=True)
    hashes = {}
    for caller in CALLERS:
        path = tokens / caller
        if not path.exists():
            _create(path, f"{secrets.token_urlsafe(_BYTES)}\n")
        hashes[caller] = hash_of(read_token(path))
    listed = json.dumps(hashes, indent=2) + "\n"
    path = tokens / HASHES
    try:
        if not path.exists() or path.read_bytes() != listed.encode():  # bytes: a damaged one may be no text
            _write_aside(path, listed).replace(path)
    except OSError as error:
        raise unusable(path, error) from None


def read_token(path: Path) -> str:
    """The token in the file at `path`; StartRefused when there is none that a call can carry."""
    try:
        token = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        cause = error.strerror if isinstance(error, OSError) else "it is not text"
        raise StartRefused(
            f"The token file {path} cannot be read ({cause}): see ONECHAT_TOKEN_FILE."
        ) from None
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise StartRefused(f"The token file {path} does not hold one token: remove it, and start again.")
    return token


def own_token(settings: ServiceSettings, caller: str) -> str:
    """`caller`'s own token: that of ONECHAT_TOKEN_FILE, else the data folder's, made if missing."""
    if settings.token_file is not None:
        return read_token(settings.token_file)
    ensure_tokens(settings.data)
    return read_token(settings.data / FOLDER / caller)


def hash_of(token: str) -> str:
    """SHA-256 of `token`, hex: what a server keeps."""
    return hashlib.sha256(token.encode()).hexdigest()


class Callers:
    """Who has which token, known by hash."""

    def __init__(self, hashes: Mapping[str, str]) -> None:
        self._hashes = dict(hashes)

    @classmethod
    def from_file(cls, path: Path) -> "Callers":
        """Those that `path`, a callers.json, lists; StartRefused when it cannot be read."""
        try:
            listed = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            raise StartRefused(
                f"{path} cannot be read as the list of callers: see ONECHAT_CALLERS_FILE."
            ) from None
        if not isinstance(listed, dict) or not all(isinstance(value, str) for value in listed.values()):
            raise StartRefused(f"{path} is no list of callers: remove it, and start again.")
        return cls(listed)

    @classmethod
    def of(cls, settings: ServiceSettings) -> "Callers":
        """Those of ONECHAT_CALLERS_FILE, else of the data folder, made if missing."""
        if settings.callers_file is not None:
            return cls.from_file(settings.callers_file)
        ensure_tokens(settings.data)
        return cls.from_file(settings.data / FOLDER / HASHES)

    def who(self, token: str) -> str | None:
        """The caller that `token` belongs to, or None; takes the same time whichever it is."""
        digest = hash_of(token).encode()
        found = None
        for caller, known in self._hashes.items():
            if hmac.compare_digest(digest, known.encode()):
                found = caller
        return found


def _create(path: Path, text: str) -> None:
    """Make `path` with `text` unless another process was first; never half-written."""
    try:
        written = _write_aside(path, text)
        with suppress(FileExistsError):
            os.link(written, path)
        written.unlink()
    except OSError as error:
        raise unusable(path, error) from None


def _write_aside(path: Path, text: str) -> Path:
    """A new file 0600 beside `path`, on disk, that holds `text`."""
    aside = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    file = os.open(aside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        os.write(file, text.encode())
        os.fsync(file)
    finally:
        os.close(file)
    return aside
