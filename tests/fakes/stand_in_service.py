"""A service for `onechat up` that starts in no time: it answers /healthz and does what a test asks.

`run` is its whole main. Behaviour: "serve", "refuse" (a line, exit code 2), "die once" (the first time it
serves, and ends with exit code 1).
"""

import json
import os
import signal
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path


class _Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        if self.server.dies:  # type: ignore[attr-defined]
            threading.Thread(target=os._exit, args=(1,)).start()

    def log_message(self, *_: object) -> None:
        """Nothing: the test reads what is printed."""


def run(name: str, behaviour: str) -> None:
    """Be the service `name` until SIGTERM."""
    data = Path(os.environ["ONECHAT_DATA"])
    if behaviour == "refuse":
        print(f"onechat {name}: the store is held by process 7.", file=sys.stderr)
        sys.exit(2)
    signal.signal(signal.SIGTERM, _end)
    marker = data / f"{name}.died"
    dies = behaviour == "die once" and not marker.exists()
    if dies:
        marker.touch()
    seen = {
        key: value
        for key, value in os.environ.items()
        if key.startswith(("ONECHAT_", "OPENAI_", "TELEGRAM_"))
    }
    (data / f"{name}.json").write_text(json.dumps({"pid": os.getpid(), "environ": seen}))
    print(f'{{"event": "ready", "service": "{name}"}}', file=sys.stderr, flush=True)
    port = int(os.environ[f"ONECHAT_{name.upper()}_ADDRESS"].rpartition(":")[2]) + 1000
    server = HTTPServer(("127.0.0.1", port), _Pages)
    server.dies = dies  # type: ignore[attr-defined]
    server.serve_forever()


def _end(*_: object) -> None:
    print('{"event": "ended"}', file=sys.stderr, flush=True)
    os._exit(0)
