"""The `onechat` command: reads the command line, runs one command, turns its end into an exit code.

What a command needs is imported when it runs, so that `onechat --help` is fast.
"""

import os
import sys
from collections.abc import Sequence

from onechat_cli.arguments import parser
from onechat_cli.outcome import CommandFailed, Exit


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; its exit code."""
    chosen = parser().parse_args(arguments)
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # gRPC's own lines would stand among the answer
    os.umask(0o077)
    try:
        from onechat_runtime.errors import RemoteError, StartRefused

        from onechat_cli.commands import run
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    try:
        return run(chosen)
    except StartRefused as refused:
        return _complain(str(refused), Exit.REFUSED)
    except CommandFailed as failed:
        return _complain(str(failed), Exit.WRONG)
    except RemoteError as error:
        return _complain(error.message or error.code.name, Exit.WRONG)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:  # whoever read the answer has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK


def _complain(text: str, code: Exit) -> Exit:
    for line in text.splitlines():
        print(f"onechat: {line}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
