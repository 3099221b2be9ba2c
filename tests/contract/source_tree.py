"""The repository's own files, and what each Python source of a member imports. Nothing of it is run."""

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
SERVICES = ("agent", "memory", "whatsapp", "telegram", "scheduler")
MEMBERS = {
    "onechat_runtime": REPOSITORY / "runtime",
    **{f"onechat_{name}": REPOSITORY / "services" / name for name in SERVICES},
    "onechat_cli": REPOSITORY / "cli",
    "onechat_demo": REPOSITORY / "demo",
}

# What no clone holds: environments, caches, and a user's own data.
_UNKEPT_AT_THE_TOP = {"data", "workspace", "agents", "secrets", "dist"}
_UNKEPT = {"__pycache__", "build", "node_modules"}


@cache
def kept_files() -> tuple[Path, ...]:
    """Every file that belongs to the repository, whether it is committed yet or not."""
    found: list[Path] = []
    for folder, folders, names in os.walk(REPOSITORY):
        here = Path(folder)
        folders[:] = [
            name
            for name in folders
            if name not in _UNKEPT
            and (not name.startswith(".") or name == ".ci")
            and not name.endswith(".egg-info")
            and not (here == REPOSITORY and name in _UNKEPT_AT_THE_TOP)
        ]
        found += [here / name for name in names if name not in {".env", "uv.lock"}]
    return tuple(sorted(found))


def shown(path: Path) -> str:
    """`path` as a person names it."""
    return path.relative_to(REPOSITORY).as_posix()


@dataclass(frozen=True)
class Source:
    """A Python file of a member's src/."""

    member: str  #: the import name, such as onechat_memory
    path: Path

    @property
    def module(self) -> str:
        """The dotted name that it is imported by."""
        parts = list(self.path.relative_to(MEMBERS[self.member] / "src").with_suffix("").parts)
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def shown(self) -> str:
        return shown(self.path)

    @property
    def is_domain(self) -> bool:
        return f"{self.member}.domain" in {self.module, ".".join(self.module.split(".")[:2])}

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.path.read_text(encoding="utf-8"))

    @cached_property
    def imports(self) -> frozenset[str]:
        """Every module that it imports, anywhere in it; `from a import b` counts as a and as a.b."""
        return frozenset(self._imported(self.tree))

    @cached_property
    def imports_at_load(self) -> frozenset[str]:
        """Those that are imported when it is: not the ones for type checkers, nor those inside functions."""
        return frozenset(self._imported(_without_deferred(self.tree)))

    def _imported(self, tree: ast.AST) -> Iterator[str]:
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = self._absolute(node)
                yield base
                yield from (f"{base}.{alias.name}" for alias in node.names)

    def _absolute(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        package = self.module.split(".")
        if self.path.name != "__init__.py":
            package = package[:-1]
        package = package[: len(package) - node.level + 1]
        return ".".join([*package, *([node.module] if node.module else [])])


@cache
def sources() -> tuple[Source, ...]:
    """Every Python file of every member's src/."""
    return tuple(
        Source(member, path)
        for member, folder in MEMBERS.items()
        for path in sorted((folder / "src" / member).rglob("*.py"))
    )


def of(member: str) -> list[Source]:
    """The sources of one member."""
    return [source for source in sources() if source.member == member]


def _without_deferred(tree: ast.Module) -> ast.Module:
    class Dropper(ast.NodeTransformer):
        def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
            return None

        def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
            return None

        def visit_If(self, node: ast.If) -> ast.If | None:
            return None if "TYPE_CHECKING" in ast.unparse(node.test) else node

    return Dropper().visit(ast.parse(ast.unparse(tree)))
