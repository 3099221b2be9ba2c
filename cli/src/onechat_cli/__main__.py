"""The `onechat` command: reads the command line, runs one command, turns its end into an exit code.

What a command needs is imported when it runs, so that `onechat --help` is fast.
"""

import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from onechat_cli.arguments import parser
from onechat_cli.domain.safe_text import harmless_line
from onechat_cli.outcome import CommandFailed, Exit


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; its exit code."""
    _open_streams()
    chosen = parser().parse_args(arguments)
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # gRPC's own lines would stand among the answer
    os.umask(0o077)
    try:
        from onechat_runtime.errors import RemoteError, StartRefused

        from onechat_cli.commands import run
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    try:
        code = run(chosen)
        sys.stdout.flush()
        return code
    except StartRefused as refused:
        return _complain(str(refused), Exit.REFUSED)
    except CommandFailed as failed:
        return _complain(str(failed), Exit.WRONG)
    except RemoteError as error:
        return _complain(error.message or error.code.name, Exit.WRONG)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:  # whoever read the answer has had enough
        _drop_answer()
        return Exit.OK
    except OSError as error:  # a full disk, a terminal that is gone
        _drop_answer()
        what = f"{error.filename} cannot be used" if error.filename else "The answer cannot be written"
        return _complain(f"{what}: {error.strerror or error}.", Exit.WRONG)


def _open_streams() -> None:
    """Let each of the three streams be there, and print what its encoding lacks as a question mark.

    A stream that was closed is None, and its number would be given to the next file or socket.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - for life
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _drop_answer() -> None:
    """What Python still holds for stdout goes nowhere, else its own exit would fail on it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(text: str, code: Exit) -> Exit:
    with suppress(OSError):  # nobody to complain to
        for line in text.splitlines():
            print(f"onechat: {harmless_line(line)}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
