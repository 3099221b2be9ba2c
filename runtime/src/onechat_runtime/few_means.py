"""How a process gives up what it will not need, before it reads bytes that may be made to harm it.

It imports next to nothing, since such a process lives for a moment. Who starts it: confined.py.
"""

import resource
from contextlib import suppress


def give_up_means(*, memory_bytes: int, cpu_s: int) -> None:
    """For good, in the calling process: more address space, more work, writing files, leaving a core."""
    for limit, most in (
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_CPU, cpu_s),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(OSError, ValueError):  # a lower limit holds already
            resource.setrlimit(limit, (most, most))
