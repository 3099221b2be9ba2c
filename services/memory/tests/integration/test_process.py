"""The memory service as a person starts it: one process a store, ended and started again."""

from pathlib import Path

from onechat.memory.v1.memory_service_pb2_grpc import MemoryServiceStub
from onechat_runtime.channels import open_channel

from tests.fakes.memory_server import MemoryServer
from tests.fakes.service_process import ServiceProcess, start_in_vain, started


class Remote(MemoryServer):
    """A memory service in another process."""

    def __init__(self, channel):
        self.stub = MemoryServiceStub(channel)


def channel_to(process: ServiceProcess):
    return open_channel(process.address, token=process.token("operator"), name="memory")


async def test_a_process_keeps_its_logs_and_lets_no_second_one_near_them(tmp_path: Path):
    with started("memory", tmp_path) as first:
        async with channel_to(first) as channel:
            await Remote(channel).create()
            await Remote(channel).append("hello")
        code, said = start_in_vain("memory", tmp_path)
        stopped = first.stop()

    with started("memory", tmp_path) as second:
        async with channel_to(second) as channel:
            view = await Remote(channel).view()
        health, _ = second.page("/healthz")

    assert (code, stopped, health) == (2, 0, 200)
    assert len(said.splitlines()) == 1
    assert f"{tmp_path / 'memory'} is in use by process {first.pid}" in said
    assert view.text == "<chat>\n0+1|user: hello\n</chat>"
