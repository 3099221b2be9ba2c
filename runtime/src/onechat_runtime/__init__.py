"""What every onechat service needs, and no domain word: README.md has the rooms and their interface."""

import os

# Services start other programs and never use gRPC in a forked child: its fork handlers would only print
# a line each time. This must be set before gRPC is imported.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "false")
