"""What keeps the house liveable: sizes, names, nothing of one machine, and lists that stay true."""

import ast
import dataclasses
import importlib
import re
import shutil
import subprocess

import pytest
from onechat_runtime.settings import Described, ServiceSettings, described

from tests.contract.contracts import reasons
from tests.contract.source_tree import REPOSITORY, SERVICES, Source, kept_files, shown, sources

LINES_AT_MOST = 400
DRAWERS = {"util", "utils", "helper", "helpers", "manager", "managers", "common", "misc"}

# Where a path or an address of one machine's own would stand. In pieces, so that this file is none of them.
OF_ONE_MACHINE = re.compile(
    "|".join([r"(?<![\w./])/wo" + "rk/", r"\.\./sha" + "red", "index" + "-url", "regis" + "try="])
)
BRINGS_THE_ENGINE = ".ci/run"  # the one file that may say where an engine comes from


def text_of(path):
    """The file's text, or "" when it is none."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def settings_of(service: str) -> list[Described]:
    """What the one settings class of a service's config.py is read from."""
    config = importlib.import_module(f"onechat_{service}.config")
    (cls,) = {
        value
        for value in vars(config).values()
        if isinstance(value, type)
        and issubclass(value, ServiceSettings)
        and value.__module__ == config.__name__
    }
    assert dataclasses.is_dataclass(cls)
    return described(cls)


def test_no_source_is_longer_than_a_person_can_hold():
    lengths = {
        shown(path): len(text_of(path).splitlines())
        for path in kept_files()
        if path.suffix in {".py", ".proto", ".sh"} or path.name in {"Makefile", "Dockerfile"}
    }

    assert {name: lines for name, lines in lengths.items() if lines > LINES_AT_MOST} == {}


def test_there_are_no_drawers():
    """A drawer has no noun, so everything ends up in it."""
    python = [path.relative_to(REPOSITORY) for path in kept_files() if path.suffix == ".py"]

    assert {str(path) for path in python if DRAWERS & {*path.parent.parts, path.stem}} == set()


def test_the_tree_names_no_path_and_no_address_of_one_machine():
    named = {
        f"{shown(path)}:{number}"
        for path in kept_files()
        if shown(path) != BRINGS_THE_ENGINE
        for number, line in enumerate(text_of(path).splitlines(), 1)
        if OF_ONE_MACHINE.search(line)
    }

    assert named == set()


def test_the_lock_that_holds_addresses_is_not_committed():
    if not shutil.which("git") or not (REPOSITORY / ".git").exists():
        pytest.skip("no git repository here, so nothing is committed")

    known = subprocess.run(
        ["git", "ls-files", "uv.lock", ".env", "data"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )

    assert known.stdout == ""


def refusals(source: Source) -> dict[str, tuple[str, str]]:
    """Each error class of `source` that names a code and a reason: its name → (code, reason)."""
    found = {}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ClassDef):
            said = {
                name: ast.unparse(value).strip("'").rpartition(".")[2]
                for line in node.body
                if isinstance(line, ast.Assign)
                for name, value in assigned(line)
            }
            if said.keys() >= {"code", "reason"}:
                found[node.name] = (said["code"], said["reason"])
    return found


def assigned(line: ast.Assign):
    """The names that an assignment binds, each with what it is bound to."""
    target = line.targets[0]
    if isinstance(target, ast.Tuple) and isinstance(line.value, ast.Tuple):
        return [(ast.unparse(name), value) for name, value in zip(target.elts, line.value.elts, strict=True)]
    return [(ast.unparse(target), line.value)]


def test_each_refusal_is_a_reason_of_its_contract_with_the_code_that_stands_there():
    """Callers switch on the contract's enum; a reason outside it is one that they can't know."""
    wrong, seen = {}, 0
    for source in sources():
        package = f"onechat.{source.member.removeprefix('onechat_')}.v1"
        known = reasons("onechat.common.v1") | reasons("onechat.ops.v1") | reasons(package)
        for name, (code, reason) in refusals(source).items():
            seen += 1
            if known.get(reason) != code:
                wrong[f"{source.shown} {name}"] = (code, reason)

    assert seen
    assert wrong == {}


def test_the_example_of_env_lists_every_setting_with_its_default_and_one_comment():
    lines = (REPOSITORY / ".env.example").read_text(encoding="utf-8").splitlines()
    listed = {}
    for before, line in zip(["", *lines], lines, strict=False):
        if found := re.fullmatch(r"#?([A-Z][A-Z0-9_]*)=(.*)", line):
            assert re.match(r"# \S", before), f"{found[1]} has no comment above it"
            assert found[1] not in listed, f"{found[1]} stands there twice"
            listed[found[1]] = found[2]

    known = {each.variable: each.default or "" for service in SERVICES for each in settings_of(service)}
    of_compose = set(re.findall(r"\$\{([A-Z_]+)", text_of(REPOSITORY / "compose.yaml")))

    assert listed.keys() == known.keys() | of_compose
    assert {name: listed[name] for name in known} == known


@pytest.mark.parametrize("service", SERVICES)
def test_a_variable_means_the_same_to_every_service(service):
    others = {each.variable: each for other in SERVICES for each in settings_of(other)}

    assert [each for each in settings_of(service) if each != others[each.variable]] == []


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_has_few_enough_settings_to_read(service):
    """The addresses are one thing to a reader, who seldom sets any of them."""
    own = {
        "addresses" if each.variable.endswith("_ADDRESS") else each.variable for each in settings_of(service)
    }

    assert len(own) <= 18


def test_the_map_names_files_that_are_there():
    """A map that leads nowhere is worse than none. `<name>` is any name; a bare file lies anywhere."""
    text = (REPOSITORY / "docs" / "map.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    named = {name for row in rows for name in re.findall(r"`([^`\s]*[/.][^`\s]*)`", row)}

    def leads_nowhere(name: str) -> bool:
        pattern = re.sub(r"<\w+>", "*", name.strip("/"))
        return not any(REPOSITORY.glob(pattern if "/" in name else f"*/**/{pattern}"))

    assert named
    assert {name for name in named if leads_nowhere(name) and not (REPOSITORY / name).exists()} == set()


@pytest.mark.parametrize("service", SERVICES)
def test_each_service_has_its_rooms(service):
    """The same question is answered in the same place of each."""
    folder = REPOSITORY / "services" / service
    rooms = ["__main__.py", "config.py", "servicer.py", "errors.py"]

    missing = [name for name in rooms if not (folder / "src" / f"onechat_{service}" / name).is_file()]

    assert missing == []
    assert (folder / "README.md").is_file()
    assert list((folder / "tests").rglob("test_*.py"))
