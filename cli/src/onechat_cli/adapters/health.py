"""Whether a service says that it serves, by the standard health service, which wants no token."""

from typing import Any, Final

from grpc_health.v1 import health_pb2, health_pb2_grpc
from onechat_runtime.channels import open_channel
from onechat_runtime.errors import RemoteError

_ANSWER_S: Final = 2.0


async def serving(address: str) -> bool:
    """Whether the service at `address` answers and does not end."""
    async with open_channel(address, token="", name="service") as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        try:
            answer = await stub.Check(health_pb2.HealthCheckRequest(), timeout=_ANSWER_S)
        except RemoteError:
            return False
    found: bool = answer.status == health_pb2.HealthCheckResponse.SERVING
    return found
