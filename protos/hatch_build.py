"""Compiles every .proto into the wheel, and never into the tree.

What protoc writes goes to a temporary folder that outlives the build by nothing; the wheel takes it from
there. A hook that wrote into the tree would be skipped by build caches, and imports would fail.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompileProtos(BuildHookInterface):
    """hatchling's custom hook: `onechat/**/*.proto` → `*_pb2.py`, `*_pb2.pyi`, `*_pb2_grpc.py(i)`."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        import grpc_tools

        root = Path(self.root)
        protos = sorted(path.relative_to(root).as_posix() for path in root.glob("onechat/**/*.proto"))
        if not protos:
            raise RuntimeError(f"no .proto below {root}/onechat")
        self._out = tempfile.TemporaryDirectory(prefix="onechat-protos-")
        out = Path(self._out.name)
        well_known = Path(grpc_tools.__file__).parent / "_proto"
        subprocess.run(
            [
                sys.executable,
                "-m",
                "grpc_tools.protoc",
                f"--proto_path={root}",
                f"--proto_path={well_known}",
                f"--python_out={out}",
                f"--pyi_out={out}",
                f"--grpc_python_out={out}",
                f"--mypy_grpc_out={out}",
                f"--plugin=protoc-gen-mypy_grpc={Path(sys.executable).parent / 'protoc-gen-mypy_grpc'}",
                *protos,
            ],
            check=True,
        )
        packages = {path.parent for path in out.rglob("*_pb2.py")}
        for package in packages | {parent for p in packages for parent in p.parents if out in parent.parents}:
            (package / "__init__.py").touch()
            (package / "py.typed").touch()
        for path in sorted(out.rglob("*")):
            if path.is_file():
                build_data["force_include"][str(path)] = path.relative_to(out).as_posix()

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        self._out.cleanup()
