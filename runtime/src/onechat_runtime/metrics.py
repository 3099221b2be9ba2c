"""What Prometheus may read from every service: its calls and its health. Seconds, totals, 0 or 1.

Names of rpcs are "Service/Method"; callers are the names of tokens.py. A service adds its own beside these.
"""

from typing import Final

from prometheus_client import REGISTRY, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4 as CONTENT_TYPE

from onechat_runtime.health import HealthBoard

RPCS: Final = Counter("onechat_rpcs", "Calls answered", ["rpc", "caller", "code"])
RPC_SECONDS: Final = Histogram(
    "onechat_rpc_seconds",
    "Time from a call's arrival to its end",
    ["rpc"],
    buckets=(0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 120, 600),
)
RPCS_AT_WORK: Final = Gauge("onechat_rpcs_at_work", "Calls that are being answered now")
SERVING: Final = Gauge("onechat_serving", "1 while the service serves, 0 while it ends")
NEIGHBOUR_SERVING: Final = Gauge("onechat_neighbour_serving", "1 while the neighbour answers", ["neighbour"])
TROUBLES: Final = Gauge("onechat_troubles", "How many troubles a person should look at")

__all__ = ["CONTENT_TYPE", "page"]


def page(board: HealthBoard) -> bytes:
    """The metrics as Prometheus reads them, those of `board` brought up to date."""
    SERVING.set(board.serving)
    TROUBLES.set(len(board.troubles()))
    for name, neighbour in board.neighbours().items():
        NEIGHBOUR_SERVING.labels(name).set(neighbour.serving)
    return bytes(generate_latest(REGISTRY))
