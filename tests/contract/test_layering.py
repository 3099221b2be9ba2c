"""Who may import whom. Read from the sources, so that an import inside a function counts as well."""

import ast
import re
import sys
from collections.abc import Callable, Iterable
from importlib.metadata import packages_distributions

import pytest

from tests.contract.source_tree import MEMBERS, REPOSITORY, SERVICES, Source, of, sources

OURS = (*MEMBERS, "onechat")
TEST_ONLY = {"tests", "pytest", "pytest_asyncio", "hypothesis", "testcontainers", "llmock", "unittest"}

# Modules that read a clock, draw chance, or reach outside the process.
IMPURE = {
    "asyncio", "fcntl", "ftplib", "getpass", "glob", "http", "io", "logging", "mmap", "multiprocessing", "os",
    "pathlib", "queue", "sched", "secrets", "select", "selectors", "shutil", "signal", "smtplib", "socket",
    "socketserver", "sqlite3", "ssl", "subprocess", "tempfile", "threading", "time", "urllib.request", "uuid",
}  # fmt: skip
IMPURE_CALLS = re.compile(
    r"^(datetime\.)?(datetime|date)\.(now|utcnow|today)$"
    r"|^random\.(?!Random$|SystemRandom$)\w+$|^open$|^print$|^input$"
)
PURE_LIBRARIES = {"onechat_scheduler": {"croniter"}}  # pure, and the calendar is its own field


def tops(source: Source) -> set[str]:
    """The top-level packages that `source` imports."""
    return {name.partition(".")[0] for name in source.imports}


def sees_contracts(name: str) -> bool:
    """Whether the import `name` is of generated code."""
    return name.startswith("onechat.") or name == "onechat" or bool(re.search(r"_pb2(_grpc)?\b", name))


def found(wrong: Callable[[Source], set[str]], among: Iterable[Source]) -> dict[str, set[str]]:
    """What `wrong` finds in each source, by path; sources in which it finds nothing are left out."""
    return {source.shown: names for source in among if (names := wrong(source))}


def test_a_service_imports_no_other_service():
    """They talk by contracts alone; the demo model is a program that the agent starts, not a library."""
    others = {f"onechat_{name}" for name in SERVICES} | {"onechat_cli", "onechat_demo"}

    assert found(lambda source: tops(source) & others - {source.member}, sources()) == {}


@pytest.mark.parametrize(
    ("member", "allowed"),
    [
        ("onechat_runtime", {"onechat"}),
        ("onechat_cli", {"onechat", "onechat_runtime"}),
        ("onechat_demo", set()),
    ],
)
def test_what_is_no_service_knows_nothing_of_the_services(member, allowed):
    assert found(lambda source: tops(source) & set(OURS) - allowed - {member}, of(member)) == {}


def test_the_product_imports_nothing_of_its_tests():
    assert found(lambda source: tops(source) & TEST_ONLY, sources()) == {}


def test_a_domain_imports_the_standard_library_and_itself():
    """So that its rules can be read and tested without anything running."""

    def foreign(source: Source) -> set[str]:
        allowed = sys.stdlib_module_names | PURE_LIBRARIES.get(source.member, set())
        own = re.compile(rf"{source.member}\.domain(\.|$)")
        return {n for n in source.imports if n.partition(".")[0] not in allowed and not own.match(n)}

    assert found(foreign, domains()) == {}


def test_a_domain_has_no_clock_no_chance_and_no_input_or_output():
    def impure(source: Source) -> set[str]:
        calls = {ast.unparse(node.func) for node in ast.walk(source.tree) if isinstance(node, ast.Call)}
        return {call for call in calls if IMPURE_CALLS.match(call)} | (source.imports | tops(source)) & IMPURE

    assert found(impure, domains()) == {}


def domains() -> list[Source]:
    """The sources of every domain, of which there must be some."""
    those = [source for source in sources() if source.is_domain]
    assert len(those) > len(SERVICES)
    return those


def test_only_servicers_adapters_and_the_wiring_see_generated_code():
    """Elsewhere a contract's change would reach the rules. The wire to WhatsApp is protobuf at its ends."""
    at_an_end = {"wire.codec", "wire_child.neonize_client"}

    def seen(source: Source) -> set[str]:
        room = source.module.removeprefix(f"{source.member}.")
        if (
            room == "__main__"
            or room.startswith("adapters.")
            or room.endswith("servicer")
            or room in at_an_end
        ):
            return set()
        return set(filter(sees_contracts, source.imports))

    services = [source for source in sources() if source.member.removeprefix("onechat_") in SERVICES]

    assert found(seen, services) == {}


def test_the_library_that_speaks_to_whatsapp_is_loaded_by_one_module_which_only_the_child_process_loads():
    """A fault in it ends the process, and importing it fails where the system lacks libmagic."""
    client = "onechat_whatsapp.wire_child.neonize_client"

    loads_it = {source.module for source in sources() if "neonize" in tops(source)}
    loads_the_client = {source.module for source in sources() if client in source.imports}

    assert loads_it == {client}
    assert loads_the_client == {"onechat_whatsapp.wire_child.__main__"}


@pytest.mark.parametrize("member", MEMBERS)
def test_no_modules_import_one_another_in_a_circle(member):
    """Each floor knows only the floors below it, and nothing runs back up."""
    modules = {source.module: source.imports_at_load for source in of(member)}
    below = {name: {i for i in imports if i in modules and i != name} for name, imports in modules.items()}

    while lowest := {name for name, needs in below.items() if not needs}:
        below = {name: needs - lowest for name, needs in below.items() if name not in lowest}

    assert sorted(below) == []


@pytest.mark.parametrize("member", MEMBERS)
def test_what_a_member_imports_is_locked_for_it(member):
    """An image holds what the member's own file in requirements/ names, and nothing else."""
    file = {"onechat_runtime": "memory", "onechat_demo": "agent"}.get(member, member.removeprefix("onechat_"))
    lines = (REPOSITORY / "requirements" / f"{file}.txt").read_text().splitlines()
    locked = {line.partition("==")[0].lower() for line in lines if "==" in line}
    distributions = packages_distributions()

    def missing(source: Source) -> set[str]:
        outside = tops(source) - set(OURS) - sys.stdlib_module_names - {"google"}
        return {top for top in outside if not named(distributions.get(top, [top])) & locked}

    def named(those: list[str]) -> set[str]:
        return {distribution.lower().replace("_", "-") for distribution in those}

    assert found(missing, of(member)) == {}


def test_nothing_of_ours_is_called_telegram():
    """python-telegram-bot's own package is, and a folder of that name on the path would hide it."""
    assert not (REPOSITORY / "services" / "telegram" / "__init__.py").exists()
    assert {source.member for source in sources() if source.module.split(".")[0] == "telegram"} == set()
