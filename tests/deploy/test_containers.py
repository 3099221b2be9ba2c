"""What the containers may do, see and reach, asked of the engine and from inside them."""

import json
import os
import socket
import stat
import subprocess
from pathlib import Path

import grpc
import pytest
from onechat.ops.v1 import ops_service_pb2, ops_service_pb2_grpc

from tests.contract.source_tree import SERVICES

pytestmark = pytest.mark.deploy

every_service = pytest.mark.parametrize("name", SERVICES)
SHUT_IN = ("memory", "scheduler")
OUTSIDE = ("1.1.1.1", 443)  # any address that is not of this machine
REACH = f"""
import socket
try:
    socket.create_connection({OUTSIDE!r}, 5).close()
    print("reached")
except OSError as error:
    print("not reached")
"""


def owner() -> int:
    """The uid that the containers are told to run as."""
    return os.getuid() or 10001


@every_service
def test_a_service_is_healthy_and_runs_as_the_owner_with_no_rights_beyond(deployment, name):
    engine = deployment.inspected(name)
    status = dict(line.split(":", 1) for line in deployment.shell(name, "cat /proc/self/status").splitlines())

    assert engine["State"]["Health"]["Status"] == "healthy"
    assert set(status["Uid"].split()) == {str(owner())}
    assert int(status["CapEff"], 16) == int(status["CapBnd"], 16) == 0
    assert status["NoNewPrivs"].strip() == "1"
    assert engine["HostConfig"]["ReadonlyRootfs"] is True
    assert engine["HostConfig"]["Memory"] > 0


@every_service
def test_a_service_can_write_its_data_and_nothing_of_its_image(deployment, name):
    said = deployment.shell(
        name, "touch /opt/onechat/x; touch /usr/x; touch /data/x && rm /data/x && echo written"
    )

    assert said.count("Read-only file system") == 2
    assert said.endswith("written")


@every_service
def test_a_service_is_published_on_loopback_alone(deployment, name):
    ports = deployment.inspected(name)["NetworkSettings"]["Ports"]

    published = [each["HostIp"] for bindings in ports.values() if bindings for each in bindings]

    assert published == ["127.0.0.1"]


@every_service
def test_a_service_sees_its_own_token_and_the_hashes_and_no_other_secret(deployment, name):
    files = deployment.shell(
        name, "find /data/tokens /run/secrets /tokens -type f -exec stat -c '%a %u %n' {} + "
    )
    mine = str(owner())

    seen = {}
    for line in files.splitlines():
        if line.startswith("find:"):
            continue
        mode, uid, path = line.split(" ", 2)
        assert (mode, uid) == ("600", mine)
        seen[path] = deployment.shell(name, f"cat {path}")

    own = {"agent": {"agent", "operator"}, "memory": set()}.get(name, {name})
    secrets = {"agent": {"openai_api_key"}, "telegram": {"telegram_token"}}.get(name, set())
    assert seen.keys() == {f"/data/tokens/{caller}/token" for caller in own} | {
        "/data/tokens/callers/callers.json"
    } | {f"/run/secrets/{secret}" for secret in secrets}
    hashes = json.loads(seen["/data/tokens/callers/callers.json"])
    assert all(len(each) == 64 for each in hashes.values())


@pytest.mark.parametrize("name", SHUT_IN)
def test_memory_and_scheduler_have_no_way_out(deployment, name):
    """What they hold stays where it is, whatever a fault in them does."""
    networks = deployment.networks()

    said = deployment.inside(name, "python", "-I", "-c", REACH).strip()

    assert said == "not reached"
    joined = {net for net, each in networks.items() if deployment.inspected(name)["Id"] in each["Containers"]}
    assert joined == {"inside", "ports"}
    assert networks["inside"]["Internal"] is True


@pytest.mark.parametrize("name", [name for name in SERVICES if name not in SHUT_IN])
def test_the_others_reach_what_this_machine_reaches(deployment, name):
    try:
        socket.create_connection(OUTSIDE, 5).close()
    except OSError:
        pytest.skip(f"this machine does not reach {OUTSIDE[0]} itself")

    assert deployment.inside(name, "python", "-I", "-c", REACH).strip() == "reached"


@every_service
def test_each_service_answers_the_operator_from_this_machine_and_nobody_without_a_token(deployment, name):
    asked = ops_service_pb2.GetInfoRequest()
    with deployment.channel(name) as channel:
        stub = ops_service_pb2_grpc.SnapshotServiceStub(channel)

        info = stub.GetInfo(asked, metadata=deployment.operator(), timeout=10)
        with pytest.raises(grpc.RpcError) as refused:
            stub.GetInfo(asked, timeout=10)

    assert info.service == name
    assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED


def test_the_tokens_are_made_once(deployment):
    """A second `up` must not lock out what runs."""
    before = deployment.operator()

    deployment.compose("up", "--detach", "--force-recreate", "--no-deps", "init")
    deployment.compose("wait", "init", within_s=60)

    assert deployment.inspected("init")["State"]["ExitCode"] == 0
    assert deployment.operator() == before


def test_the_agents_image_holds_what_its_shell_is_expected_to_have(deployment):
    wanted = ["onechat", "bash", "git", "curl", "python"]

    found = [deployment.shell("agent", f"command -v {name}") for name in wanted]

    assert [Path(path).name for path in found] == wanted


def test_whatsapps_image_loads_the_library_that_speaks_to_it(deployment):
    """Its system library and its own are in the image, or nobody could ever link an account."""
    loads = "import onechat_whatsapp.wire_child.neonize_client as library; print(library.__name__)"

    said = deployment.inside("whatsapp", "python", "-c", loads).split()

    assert said[-1] == "onechat_whatsapp.wire_child.neonize_client"


def test_what_is_bound_belongs_to_the_owner(deployment):
    """Docker would have made the folders as root, and neither the agent nor its owner could write them."""
    for name in ("workspace", "agents"):
        assert (deployment.folder / name).stat().st_uid == owner()
    (mine,) = (deployment.folder / "agents").iterdir()
    assert mine.stat().st_uid == owner()
    assert stat.S_IMODE((deployment.folder / "secrets" / "openai_api_key").stat().st_mode) == 0o600


def test_compose_stops_with_what_to_do_where_its_variables_are_missing(deployment, tmp_path):
    bare = tmp_path / "compose.yaml"
    bare.write_text((deployment.folder / "compose.yaml").read_text())

    refused = subprocess.run(
        ["docker", "compose", "config", "--quiet"], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert refused.returncode != 0
    assert "make compose-env" in refused.stderr
