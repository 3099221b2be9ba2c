"""The machine that a run was made on, without its name and without a path of it."""

import platform
import re
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Final

import psutil  # type: ignore[import-untyped]

GB: Final = 1_000_000_000
_MODEL: Final = re.compile(r"^model name\s*:\s*(.+)$", re.MULTILINE)
_PACKAGES: Final = ("grpcio", "apsw", "uvloop")


def described() -> str:
    """Processor, memory, system, file system, Python and the packages that figures hang on: one line."""
    cores = psutil.cpu_count() or 1
    parts = [
        f"{cores} × {_processor()}",
        f"{psutil.virtual_memory().total / GB:.0f} GB",
        f"{platform.system()} {platform.release().partition('-')[0]}",
        f"{_file_system()} for stores",
        f"Python {platform.python_version()}",
        *(f"{name} {metadata.version(name)}" for name in _PACKAGES),
    ]
    return ", ".join(parts)


def load() -> str:
    """How busy the machine is with everything that runs on it: runnable tasks, on average of a minute."""
    return f"{psutil.getloadavg()[0]:.1f}"


def _processor() -> str:
    try:
        models = _MODEL.findall(Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    except OSError:
        models = []
    return models[0].strip() if models else platform.machine()


def _file_system() -> str:
    """The kind of file system that temporary files, and so the measured stores, lie on."""
    folder = Path(tempfile.gettempdir()).resolve()
    kinds = {Path(one.mountpoint): one.fstype for one in psutil.disk_partitions(all=True)}
    return next((kinds[path] for path in (folder, *folder.parents) if path in kinds), "unknown")
