"""Structured logs: a fixed event name, variables beside it, never a message's text, key or token.

To stderr, JSON lines in a container and readable ones in a terminal. An error's own text may quote what a
user wrote, so above debug level `stack_of` shows where and of which type, not the text.
"""

import logging
import sys
import traceback
from contextlib import suppress
from typing import Any, Final

import apsw

# structlog takes rich along where it is installed, for tracebacks that are not shown: a fifth of a start.
_NO_RICH: Final = "rich" not in sys.modules
if _NO_RICH:
    sys.modules["rich"] = None  # type: ignore[assignment]
import structlog  # noqa: E402 - see above

if _NO_RICH:
    del sys.modules["rich"]

_LEVELS: Final = {"debug": 10, "info": 20, "warning": 30, "error": 40}
# SQLite's and the system's own words: no value of a row is in them.
_SPEAKS_PLAINLY: Final = (apsw.Error, OSError)


def get(name: str = "") -> Any:
    """A logger whose lines carry `name` as their room."""
    return structlog.get_logger(room=name)


def configure(name: str, level: str, json: bool) -> None:
    """Set logs up for the process: `name` is the service, `level` one of debug, info, warning, error."""
    least = _LEVELS[level]
    renderer: Any = structlog.processors.JSONRenderer(ensure_ascii=False)
    if not json:
        renderer = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), pad_event_to=24)
    structlog.contextvars.clear_contextvars()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=json),
            _named(name),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(least),
        logger_factory=_Lines,
        cache_logger_on_first_use=False,
    )
    root = logging.getLogger()
    root.handlers[:] = [_Library()]
    root.setLevel(max(least, logging.WARNING) if least > logging.DEBUG else logging.INFO)
    logging.getLogger("httpx").setLevel(logging.WARNING)  # it writes addresses with tokens in them at INFO


def stack_of(error: BaseException) -> str:
    """Where `error` was raised and what caused it: types, files, lines, functions; its causes follow."""
    return "\n".join(_stack_lines(error))


def _stack_lines(error: BaseException) -> list[str]:
    lines: list[str] = []
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        said = f": {at}" if isinstance(at, _SPEAKS_PLAINLY) else ""
        lines.append(f"{type(at).__module__}.{type(at).__qualname__}{said}")
        frames = traceback.extract_tb(at.__traceback__)
        lines.extend(f"  {frame.filename}:{frame.lineno} {frame.name}" for frame in frames)
        if isinstance(at, BaseExceptionGroup):
            for inner in at.exceptions:
                lines.extend(f"  {line}" for line in _stack_lines(inner))
        at = at.__cause__ or (None if at.__suppress_context__ else at.__context__)
    return lines


def _named(name: str) -> Any:
    def add(_logger: object, _method: str, event: dict[str, Any]) -> dict[str, Any]:
        return {"service": name, **event}

    return add


class _Lines:
    """Writes a line at a time to stderr. Losing a line is better than failing whatever was at work."""

    def __init__(self, *_names: object) -> None:
        """structlog gives a logger its names; these lines carry theirs already."""

    def msg(self, line: str) -> None:
        """Write `line`, unless nobody is there to read it any more."""
        with suppress(OSError, ValueError):
            sys.stderr.write(line + "\n")
            sys.stderr.flush()

    debug = info = warning = error = critical = msg


class _Library(logging.Handler):
    """Lines of libraries that use Python's logging: where they came from, and their words without values."""

    def emit(self, record: logging.LogRecord) -> None:
        log = get(record.name)
        about: dict[str, Any] = {
            "at": f"{record.module}:{record.lineno}",
            "template": str(record.msg).partition("\n")[0][:200],
        }
        if record.exc_info and record.exc_info[1] is not None:
            about["stack"] = stack_of(record.exc_info[1])
        say = log.error if record.levelno >= logging.ERROR else log.warning
        if record.levelno < logging.WARNING:
            say = log.debug
        say("library", **about)
