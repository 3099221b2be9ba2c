"""The benchmarks themselves: that each one still runs against the services as they are. No time is judged."""

import re
import subprocess
import sys
from pathlib import Path

from bench.__main__ import BENCHMARKS

ROOT = Path(__file__).parents[2]


def test_every_benchmark_runs_at_a_tiny_size() -> None:
    """They use the services' own rooms and contracts, so a change of those could break them unseen."""
    command = [sys.executable, "-m", "bench", "--smoke"]

    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=110, check=False)

    assert ran.returncode == 0, ran.stderr
    found = re.findall(r"^(\w+): .+\n\n\| what", ran.stdout, re.MULTILINE)
    assert found == list(BENCHMARKS)
