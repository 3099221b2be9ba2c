"""One deployment for all tests of this folder: building it takes a minute, starting it half of one."""

import os
from collections.abc import Iterator

import pytest

from tests.deploy.deployment import Deployment, deployed, engine_missing


@pytest.fixture(scope="session")
def deployment(tmp_path_factory) -> Iterator[Deployment]:
    """The five services, healthy, on the demo model: the files of the secrets are empty."""
    if missing := engine_missing():
        pytest.skip(missing)
    with deployed(tmp_path_factory.mktemp("tree"), f"onechat-test-{os.getpid()}") as running:
        yield running
