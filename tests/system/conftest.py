"""One fork server for all tests of a process, since it takes seconds to import every service."""

from collections.abc import Iterator

import pytest

from tests.fakes.five_services import Forks


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks]:
    made = Forks()
    yield made
    made.close()
