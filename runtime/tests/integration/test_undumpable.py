"""What a process hides from others of its user."""

import subprocess
import sys


def test_a_protected_process_is_not_dumpable():
    """What is not dumpable hides its memory and environment from others of its user."""
    program = (
        "import ctypes; from onechat_runtime.undumpable import protect_process;"
        "prctl = ctypes.CDLL(None).prctl;"
        "print(prctl(3, 0, 0, 0, 0), protect_process(), prctl(3, 0, 0, 0, 0))"
    )

    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert said.stdout.split() == ["1", "True", "0"]


def test_every_service_is_protected_from_its_start_on(tmp_path):
    """Before its settings are read: what refuses a start may hold secrets, too."""
    program = (
        "import ctypes\n"
        "from onechat_runtime.server import run_service\n"
        "from onechat_runtime.settings import ServiceSettings\n"
        "run_service('x', ServiceSettings, None)\n"
        "print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))\n"
    )

    said = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"ONECHAT_LOG": "?"},
    )

    assert said.stdout.split()[-1] == "0", said.stderr
