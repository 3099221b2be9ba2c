"""The repository's compose.yaml on a real engine, as a project of its own beside anything that runs already.

The tree is copied, so that .env, workspace/, agents/ and secrets/ of whoever runs the tests stay as they are.
The one thing changed is the ports of this machine: any free ones, still on loopback.
"""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
from onechat_runtime.settings import SERVICE_PORTS

from tests.contract.source_tree import REPOSITORY, SERVICES, kept_files

BUILD_S = 900.0
CALL_S = 120.0


def engine_missing() -> str:
    """Why nothing can be deployed here; "" when it can."""
    if not shutil.which("docker"):
        return "no docker here"
    for asked in (["docker", "info"], ["docker", "compose", "version"]):
        answer = subprocess.run(asked, capture_output=True, text=True, timeout=60, check=False)
        if answer.returncode:
            return f"`{' '.join(asked)}` does not work here: {answer.stderr.strip().splitlines()[-1:]}"
    return ""


class CommandFailed(Exception):
    """A command that the tests need did not work; its text is what it said."""


class Deployment:
    """A running project. Container commands run as the container's own user."""

    def __init__(self, folder: Path, project: str) -> None:
        self.folder = folder
        self.project = project

    def compose(self, *arguments: str, within_s: float = CALL_S) -> str:
        """`docker compose …`: what it printed. CommandFailed when it fails."""
        return self._ended(self.command(*arguments), within_s)

    def command(self, *arguments: str) -> list[str]:
        """The command line of `docker compose …` for this project."""
        return ["docker", "compose", "--project-name", self.project, *arguments]

    def inside(self, service: str, *command: str, within_s: float = CALL_S) -> str:
        """What `command` prints in the container of `service`."""
        return self.compose("exec", "-T", service, *command, within_s=within_s)

    def shell(self, service: str, script: str) -> str:
        """What `script` prints in the container of `service`, its error output among it, whatever its end."""
        return self.inside(service, "sh", "-c", f"({script}) 2>&1 || true").strip()

    def send(self, text: str) -> str:
        """The agent's reply to `text`. CommandFailed, with what the services logged, when there is none."""
        try:
            return self.inside("agent", "onechat", "send", "--timeout", "100", text)
        except CommandFailed as failed:
            failed.add_note(self.compose("logs", "--tail", "20", "agent", "memory"))
            raise

    def starting(self, *command: str) -> subprocess.Popen[str]:
        """`command` in the agent's container, not waited for."""
        return subprocess.Popen(
            self.command("exec", "-T", "agent", *command),
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def inspected(self, service: str) -> dict[str, Any]:
        """What the engine knows of the container of `service`, which may have ended."""
        (number,) = self.compose("ps", "--all", "--quiet", service).split()
        (found,) = json.loads(self._ended(["docker", "inspect", number], CALL_S))
        return found

    def networks(self) -> dict[str, dict[str, Any]]:
        """The project's networks by their names in compose.yaml."""
        label = f"label=com.docker.compose.project={self.project}"
        numbers = self._ended(["docker", "network", "ls", "--quiet", "--filter", label], CALL_S).split()
        listed = json.loads(self._ended(["docker", "network", "inspect", *numbers], CALL_S))
        return {each["Labels"]["com.docker.compose.network"]: each for each in listed}

    def address(self, service: str) -> str:
        """Where this machine reaches the gRPC port of `service`."""
        return self.compose("port", service, str(SERVICE_PORTS[service])).strip()

    def operator(self) -> Sequence[tuple[str, str]]:
        """The metadata of an operator's calls."""
        token = self.inside("agent", "cat", "/data/tokens/operator/token").strip()
        return (("authorization", f"Bearer {token}"),)

    @contextmanager
    def channel(self, service: str) -> Iterator[grpc.Channel]:
        """A plain channel to `service`, by its published port."""
        with grpc.insecure_channel(self.address(service)) as channel:
            yield channel

    def up(self) -> None:
        """Start what does not run, and wait until every service is healthy."""
        self.compose("up", "--detach", "--wait", "--wait-timeout", "240", within_s=300.0)

    def until_serving(self, service: str, within_s: float = 60.0) -> None:
        """Wait until `service` answers its own probe; compose's wait takes a whole interval of it."""
        probe = ("python", "-I", "-S", "/opt/healthcheck.py", str(SERVICE_PORTS[service] + 1000))
        deadline = time.monotonic() + within_s
        while True:
            try:
                self.inside(service, *probe)
            except CommandFailed:
                if time.monotonic() > deadline:
                    raise
            else:
                return

    def crash(self, service: str) -> None:
        """Kill every process of `service` from inside: to the engine it died, and nobody stopped it."""
        killing = self.command("exec", "-T", service, "sh", "-c", "kill -9 -1")
        subprocess.run(killing, cwd=self.folder, timeout=CALL_S, check=False, capture_output=True)

    def _ended(self, command: Sequence[str], within_s: float) -> str:
        ended = subprocess.run(
            command,
            cwd=self.folder,
            env=_environment(),
            timeout=within_s,
            check=False,
            capture_output=True,
            text=True,
        )
        if ended.returncode:
            said = f"{ended.stdout[-4000:]}\n{ended.stderr[-4000:]}".strip()
            raise CommandFailed(f"{' '.join(command)} ended with {ended.returncode}: {said}")
        return ended.stdout


def _environment() -> dict[str, str]:
    """This process's own, without what would change the project: compose reads .env after it."""
    ours = ("ONECHAT_", "OPENAI_", "TELEGRAM_", "COMPOSE_", "TZ", "SUDO_")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


@contextmanager
def deployed(folder: Path, project: str) -> Iterator[Deployment]:
    """Build and start the tree's copy in `folder`; at the end all of it is removed, with its data."""
    for path in kept_files():
        target = folder / path.relative_to(REPOSITORY)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)
    any_port = "".join(
        f'  {name}:\n    ports: !override ["127.0.0.1::{SERVICE_PORTS[name]}"]\n' for name in SERVICES
    )
    (folder / "compose.override.yaml").write_text(f"services:\n{any_port}")
    subprocess.run(["make", "compose-env"], cwd=folder, env=_environment(), check=True, capture_output=True)
    deployment = Deployment(folder, project)
    try:
        deployment.compose("build", within_s=BUILD_S)
        deployment.up()
        yield deployment
    finally:
        if os.environ.get("KEEP_DEPLOYMENT") != "1":
            deployment.compose("down", "--volumes", "--rmi", "local", "--remove-orphans")
