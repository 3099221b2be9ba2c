"""What the command is told by the environment and `.env`: read once, all faults at once.

The commands that only call services need the data folder for the operator's token, and addresses; `up` hands
the rest of the environment on to the services, which read their own settings.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from onechat_runtime.errors import StartRefused
from onechat_runtime.settings import address_of, load, overlaid, read_dotenv, setting
from onechat_runtime.tokens import FOLDER, read_token

SERVICES: Final = ("agent", "memory", "whatsapp", "telegram", "scheduler")
DOTENV: Final = Path(".env")


@dataclass(frozen=True, slots=True, kw_only=True)
class CliSettings:
    """The command's settings."""

    data: Path = setting("ONECHAT_DATA", parse=Path, default=Path("data"), doc="the data folder")
    token_file: Path | None = setting(
        "ONECHAT_TOKEN_FILE",
        parse=Path,
        default=None,
        doc="file with this caller's token; unset: the operator's in DATA/tokens",
    )
    agent_address: str = address_of("agent")
    memory_address: str = address_of("memory")
    whatsapp_address: str = address_of("whatsapp")
    telegram_address: str = address_of("telegram")
    scheduler_address: str = address_of("scheduler")

    @property
    def addresses(self) -> dict[str, str]:
        """Every service's address by its name."""
        return {
            "agent": self.agent_address,
            "memory": self.memory_address,
            "whatsapp": self.whatsapp_address,
            "telegram": self.telegram_address,
            "scheduler": self.scheduler_address,
        }

    def operator_token(self) -> str:
        """The token that the command's calls carry; StartRefused when it cannot be read."""
        if not self.has_token:
            raise StartRefused(
                f"There is no token at {self._token_path}: start the services with `onechat up`, "
                "or name the operator's token in ONECHAT_TOKEN_FILE."
            )
        return read_token(self._token_path)

    @property
    def has_token(self) -> bool:
        """Whether there is a token file; there is none before the services' first start."""
        return self._token_path.exists()

    @property
    def _token_path(self) -> Path:
        return self.token_file or self.data / FOLDER / "operator"


def environment(environ: Mapping[str, str] = os.environ, dotenv: Path = DOTENV) -> dict[str, str]:
    """The variables of `.env` under those of the environment; an empty one counts as unset."""
    return {name: value for name, value in overlaid(read_dotenv(dotenv), environ).items() if value}


def settings_from(variables: Mapping[str, str]) -> CliSettings:
    """The settings that `variables` hold; SettingsFaulty with every fault."""
    return load(CliSettings, variables)
