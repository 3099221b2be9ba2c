"""What compose.yaml, the Dockerfile and `make compose-env` promise, read without an engine.

That a real engine keeps it: tests/deploy.
"""

import os
import re
import shutil
import subprocess

import pytest
import yaml
from onechat_cli.config import CliSettings
from onechat_runtime.settings import SERVICE_PORTS, described
from onechat_runtime.tokens import CALLERS

from tests.contract.source_tree import REPOSITORY, SERVICES
from tests.contract.test_house import settings_of

COMPOSE = yaml.safe_load((REPOSITORY / "compose.yaml").read_text(encoding="utf-8"))
DEPLOYED = COMPOSE["services"]
REACH_THE_INTERNET = {"agent", "telegram", "whatsapp"}

every_container = pytest.mark.parametrize("name", sorted(DEPLOYED))
every_service = pytest.mark.parametrize("name", SERVICES)


def sources(name: str) -> dict[str, str]:
    """What is mounted into a container: target → volume or folder."""
    mounts = {}
    for mount in DEPLOYED[name].get("volumes", []):
        if isinstance(mount, dict):
            mounts[mount["target"]] = mount["source"]
        else:
            source, target, *_ = mount.split(":")
            mounts[target] = source
    return mounts


def test_the_deployment_is_the_five_services_and_what_makes_their_tokens():
    assert DEPLOYED.keys() == {*SERVICES, "init"}


@every_container
def test_a_container_may_do_nothing_that_it_need_not(name):
    container = DEPLOYED[name]

    assert container["user"].startswith("${ONECHAT_UID:?")
    assert container["read_only"] is True
    assert container["cap_drop"] == ["ALL"]
    assert container["security_opt"] == ["no-new-privileges:true"]
    assert not {"privileged", "cap_add", "devices", "pid", "ipc"} & container.keys()
    assert container["mem_limit"]
    assert container["pids_limit"]
    assert {"max-size", "max-file"} <= container["logging"]["options"].keys()


@every_service
def test_a_service_starts_again_by_itself_and_waits_for_nothing_but_its_token(name):
    container = DEPLOYED[name]

    assert container["restart"] == "unless-stopped"
    assert list(container["depends_on"]) == ["init"]
    assert int(container["stop_grace_period"].removesuffix("s")) > 10  # what a service may take to drain


@every_service
def test_a_service_is_published_on_loopback_and_probed_on_its_pages(name):
    port = SERVICE_PORTS[name]
    container = DEPLOYED[name]

    assert container["ports"] == [f"127.0.0.1:{port}:{port}"]
    assert container["environment"][f"ONECHAT_{name.upper()}_ADDRESS"] == f"0.0.0.0:{port}"
    assert container["healthcheck"]["test"][:4] == ["CMD", "python", "-I", "-S"]
    assert container["healthcheck"]["test"][-1] == str(port + 1000)
    assert container["healthcheck"]["interval"] == "30s"
    assert "start_interval" not in container["healthcheck"]  # needs an engine of 2023


@every_service
def test_only_three_services_have_a_way_out(name):
    networks = set(DEPLOYED[name]["networks"])

    assert networks == {"inside", "outside" if name in REACH_THE_INTERNET else "ports"}
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    assert COMPOSE["networks"]["ports"]["driver_opts"] == {
        "com.docker.network.bridge.enable_ip_masquerade": "false"
    }


@every_service
def test_each_service_has_its_own_volume_and_no_secret_of_another(name):
    secrets = {"agent": ["openai_api_key"], "telegram": ["telegram_token"]}
    own = {
        "agent": {"agent", "operator"},
        "memory": set(),
    }  # `onechat` in the agent's container is the operator's
    mounts = sources(name)

    tokens = {source for source in mounts.values() if source.startswith("token-")}

    assert mounts["/data"] == name
    assert DEPLOYED[name].get("secrets", []) == secrets.get(name, [])
    assert tokens == {f"token-{caller}" for caller in own.get(name, {name})}
    assert {source for source in mounts.values() if source in SERVICES} == {name}
    assert all(mount.endswith(":ro") for mount in DEPLOYED[name]["volumes"] if "/data/tokens/" in str(mount))


def test_each_caller_gets_its_token_in_a_volume_of_its_own():
    folders = {f"/tokens/{caller}": f"token-{caller}" for caller in CALLERS}

    assert sources("init") == {**folders, "/tokens/callers": "callers"}
    assert DEPLOYED["init"]["network_mode"] == "none"


@every_service
def test_every_setting_of_a_service_reaches_its_container(name):
    """A setting in .env that compose does not hand on would be ignored without a word."""
    given = set(DEPLOYED[name]["environment"])
    known = settings_of(name)
    if name == "memory":  # it calls nobody, so it has no token
        known = [each for each in known if each.variable != "ONECHAT_TOKEN_FILE"]
    if name == "agent":  # its container is also where the `onechat` command runs
        known += described(CliSettings)

    wanted = {f"{each.variable}_FILE" if each.secret else each.variable for each in known}

    assert wanted - given == set()
    assert given - wanted - {"TZ"} == set()


def test_the_dockerfile_builds_with_an_engines_own_builder():
    """Without buildx, and where no registry of images can be reached."""
    text = (REPOSITORY / "Dockerfile").read_text(encoding="utf-8")
    stages = re.findall(r"^FROM (\S+)", text, re.MULTILINE)

    assert stages == ["${PYTHON_IMAGE}", "${PYTHON_IMAGE}"]
    assert "ARG PYTHON_IMAGE=python:3.13-slim" in text
    assert not re.search(r"^# *syntax|<<|--link|@sha256", text, re.MULTILINE)
    assert text.rindex("\nUSER ${UID}:${GID}") > text.rindex("\nFROM")
    assert "--require-hashes" in text


@pytest.fixture
def machine(tmp_path):
    """A folder with what `make compose-env` needs, and a way to run it."""
    (tmp_path / "deploy").mkdir()
    shutil.copy(REPOSITORY / "deploy" / "compose-env", tmp_path / "deploy" / "compose-env")

    def run(zone: str = "Europe/Rome") -> str:
        environment = {**os.environ, "TZ": zone}
        for name in ("SUDO_UID", "SUDO_GID"):
            environment.pop(name, None)
        script = ["sh", "deploy/compose-env"]
        return subprocess.run(
            script, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
        ).stdout

    return tmp_path, run


def variables(folder) -> dict[str, str]:
    """What .env sets."""
    lines = (folder / ".env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


def test_compose_env_says_who_the_owner_is_and_makes_what_compose_binds(machine):
    folder, run = machine

    run()

    found = variables(folder)
    uid = os.getuid() or 10001  # a container is not root, not even for root
    assert found == {
        "ONECHAT_UID": str(uid),
        "ONECHAT_GID": found["ONECHAT_GID"],
        "ONECHAT_TIME_ZONE": "Europe/Rome",
    }
    for name in ("agents", "workspace", "secrets/openai_api_key", "secrets/telegram_token"):
        assert (folder / name).stat().st_uid == uid
    assert (folder / "secrets" / "openai_api_key").stat().st_mode & 0o777 == 0o600
    assert (folder / "secrets").stat().st_mode & 0o777 == 0o700
    assert (folder / ".env").stat().st_mode & 0o777 == 0o600


def test_compose_env_keeps_what_is_there(machine):
    """It is run again after an update, and must not undo what the owner has written."""
    folder, run = machine
    (folder / ".env").write_text("# mine\nONECHAT_NAME=Ada\nONECHAT_TIME_ZONE=Asia/Tokyo\nONECHAT_UID=")
    (folder / "secrets").mkdir()
    (folder / "secrets" / "openai_api_key").write_text("a key")

    run()
    once = (folder / ".env").read_text()
    run("America/Lima")

    assert (folder / ".env").read_text() == once
    assert "# mine\n" in once
    assert variables(folder)["ONECHAT_NAME"] == "Ada"
    assert variables(folder)["ONECHAT_TIME_ZONE"] == "Asia/Tokyo"
    assert variables(folder)["ONECHAT_UID"] == str(os.getuid() or 10001)
    assert (folder / "secrets" / "openai_api_key").read_text() == "a key"


def test_compose_env_makes_the_working_directory_that_env_names(machine):
    folder, run = machine
    (folder / ".env").write_text("ONECHAT_WORKDIR=./my files\n")

    run()

    assert (folder / "my files").is_dir()
    assert not (folder / "workspace").exists()


def test_compose_env_says_that_a_key_in_env_is_not_handed_on(machine):
    """Else a deployment would start the demo model while its owner believes the key is set."""
    folder, run = machine
    (folder / ".env").write_text("OPENAI_API_KEY=sk-1\n")

    said = run()

    assert "put it into secrets/openai_api_key" in said
    assert "sk-1" not in said
