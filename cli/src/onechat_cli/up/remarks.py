"""What a person should know at a start: which time zone counts, and which model answers."""

from collections.abc import Mapping
from pathlib import Path

from onechat_runtime.time_zone import machine_zone


def is_first_start(data: Path) -> bool:
    """Whether no agent has ever run on this data folder."""
    return not (data / "agent" / "store.db").exists()


def demo_answers(variables: Mapping[str, str], *, demo: bool) -> bool:
    """Whether the built-in demo model answers: asked for, or for want of a key and of a server's name."""
    named = ("OPENAI_API_KEY", "OPENAI_API_KEY_FILE", "OPENAI_BASE_URL")
    return demo or not any(variables.get(name) for name in named)


def remarks(variables: Mapping[str, str], *, data: Path, demo: bool) -> list[str]:
    """Lines for a person, of no more than what is worth saying at this start."""
    said = []
    if is_first_start(data):
        if zone := variables.get("ONECHAT_TIME_ZONE"):
            said.append(f"Time zone: {zone}.")
        else:
            said.append(
                f"Time zone: {machine_zone(variables)}, this machine's; ONECHAT_TIME_ZONE sets another."
            )
    if demo:
        said.append("The built-in demo model answers, by rules, as --demo says.")
    elif demo_answers(variables, demo=False):
        said.append("No OPENAI_API_KEY: the built-in demo model answers, by rules. Set the key in .env.")
    return said
