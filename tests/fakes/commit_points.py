"""Where a service's code commits, found in its source: each public function that hands a job to the store.

A function counts whether it does so itself, by way of others of its module, or by way of a room that only
hands on what it is given.
"""

import ast
from pathlib import Path
from typing import Final

# By what they are held as; `self`, where a room's class is derived from the one that hands on.
DOORS: Final = {"store": ("write", "begin"), "changes": ("begin", "change"), "self": ("begin", "change")}
FUNCTIONS: Final = ("committed",)  # the agent's, which hands a job to the store until it is on disk
_COMMITS: Final = "(a commit)"


def commit_points(package: Path) -> set[str]:
    """The public functions below the folder `package` that lead to a commit, each named `module.function`."""
    found: set[str] = set()
    for path in package.rglob("*.py"):
        module = ".".join((package.name, *path.relative_to(package).with_suffix("").parts))
        calls = _calls(ast.parse(path.read_text(encoding="utf-8")))
        writing = {name for name, called in calls.items() if _COMMITS in called}
        while more := {name for name, called in calls.items() if called & writing} - writing:
            writing |= more
        found |= {f"{module}.{name}" for name in writing if not name.startswith("_")}
    return found


def commit_sites(package: Path) -> set[str]:
    """The functions below the folder `package`, private ones too, that themselves hand a job to a store."""
    found: set[str] = set()
    for path in package.rglob("*.py"):
        module = ".".join((package.name, *path.relative_to(package).with_suffix("").parts))
        calls = _calls(ast.parse(path.read_text(encoding="utf-8")))
        found |= {f"{module}.{name}" for name, called in calls.items() if _COMMITS in called}
    return found


def _calls(tree: ast.Module) -> dict[str, set[str]]:
    """Each function with what it calls of its own module, and _COMMITS where it hands a job to a store."""
    functions: dict[str, set[str]] = {}
    for scope in (tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))):
        for node in scope.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                functions.setdefault(node.name, set()).update(_called(node))
    return functions


def _called(function: ast.AST) -> set[str]:
    called = set()
    for node in ast.walk(function):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name):
            called.add(_COMMITS if node.func.id in FUNCTIONS else node.func.id)
        elif isinstance(node.func, ast.Attribute):
            of, name = ast.unparse(node.func.value), node.func.attr
            if name in DOORS.get(of.removeprefix("self.").lstrip("_"), ()):
                called.add(_COMMITS)
            elif of in ("self", "cls"):
                called.add(name)
    return called
