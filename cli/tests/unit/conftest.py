"""What the tests of transcripts share."""

import pytest

from tests.fakes.teller import Teller


@pytest.fixture
def teller():
    return Teller()
