"""What is of group chats and of no platform: a second platform must find nothing of the first one in it."""

import ast
import re
import sys
from pathlib import Path

import onechat_telegram.groups
import pytest

ROOM = Path(onechat_telegram.groups.__file__).parent
FILES = sorted(ROOM.rglob("*.py"))
OWN = "onechat_telegram.groups"


def imports(path: Path) -> set[str]:
    """Every module that the file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOM)))
def test_no_platform_is_named_and_nothing_of_the_gateway_imported(path: Path) -> None:
    text = path.read_text().replace("onechat_telegram", "")

    assert not re.search(r"telegram|slack|matrix|supergroup|forum", text, re.IGNORECASE)
    gateways = {name for name in imports(path) if re.match(r"onechat(_telegram)?\b", name)}
    assert {name for name in gateways if not name.startswith(OWN)} == set()


@pytest.mark.parametrize("path", sorted((ROOM / "domain").glob("*.py")), ids=lambda path: path.name)
def test_the_rules_are_pure(path: Path) -> None:
    foreign = {name for name in imports(path) if name.partition(".")[0] not in sys.stdlib_module_names}

    assert {name for name in foreign if not name.startswith(f"{OWN}.domain.")} == set()
    assert not re.search(r"\b(now|today|utcnow)\(\)|import random|asyncio", path.read_text())
