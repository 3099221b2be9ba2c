"""The stubs are a wheel built from protos/: an edit shows at the next `make setup`, with no other step."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract.contracts import PROTOS, REPOSITORY

EDITED = Path("onechat/scheduler/v1/scheduler_service.proto")


def add_field(protos: Path) -> None:
    """Give DeleteScheduleResponse a field that the contract has not."""
    file = protos / EDITED
    text = file.read_text(encoding="utf-8")
    grown = text.replace("int32 deleted = 1;", "int32 deleted = 1;\n  string parting_word = 2;")
    assert grown != text
    file.write_text(grown, encoding="utf-8")


@pytest.fixture
def tree(tmp_path) -> Path:
    """A copy of what the Makefile's setup looks at, with an environment that is up to date."""
    shutil.copytree(PROTOS, tmp_path / "protos", ignore=shutil.ignore_patterns("__pycache__", "build"))
    names = ["Makefile", "requirements/dev.txt", "requirements/uv.txt", "runtime/pyproject.toml"]
    names += [str(path.relative_to(REPOSITORY)) for path in REPOSITORY.glob("services/*/pyproject.toml")]
    for name in [*names, "cli/pyproject.toml", "demo/pyproject.toml"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(REPOSITORY / name, tmp_path / name)
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / ".locked").touch()
    (tmp_path / ".venv" / ".members").touch()
    return tmp_path


@pytest.mark.skipif(not shutil.which("make"), reason="no make here")
def test_make_sees_an_edited_contract(tree):
    def up_to_date() -> bool:
        # Without make's own variables: the tests may run below a make of their own.
        clean = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
        asked = ["make", "-q", ".venv/.members"]
        return subprocess.run(asked, cwd=tree, env=clean, check=False, capture_output=True).returncode == 0

    before = up_to_date()
    add_field(tree / "protos")
    later = (tree / ".venv" / ".members").stat().st_mtime + 1
    os.utime(tree / "protos" / EDITED, (later, later))

    assert before
    assert not up_to_date()


def test_an_edited_contract_is_in_the_stubs_that_are_installed_next(tree, tmp_path):
    """uv keeps built wheels: one that it built before the edit must not come back."""
    uv = Path(sys.executable).parent / "uv"
    site = tmp_path / "site"

    def install_and_ask() -> str:
        settings = os.environ | {
            "UV_CACHE_DIR": str(tmp_path / "uv-cache"),
            "PATH": f"{uv.parent}{os.pathsep}{os.environ['PATH']}",
        }
        install = [uv, "pip", "install", "--quiet", "--offline", "--no-deps", "--no-build-isolation"]
        place = ["--python", sys.executable, "--target", site, "--reinstall-package", "onechat-protos"]
        subprocess.run([*install, *place, tree / "protos"], env=settings, check=True)
        ask = (
            "from onechat.scheduler.v1 import scheduler_service_pb2 as s;"
            "print(*s.DeleteScheduleResponse.DESCRIPTOR.fields_by_name, s.__file__)"
        )
        paths = {"PYTHONPATH": str(site)}
        return subprocess.run(
            [sys.executable, "-c", ask], env=os.environ | paths, check=True, capture_output=True, text=True
        ).stdout

    before = install_and_ask()
    add_field(tree / "protos")
    after = install_and_ask()

    assert str(site) in before
    assert "parting_word" not in before
    assert "parting_word" in after
    assert list((tree / "protos").rglob("*_pb2*")) == []
