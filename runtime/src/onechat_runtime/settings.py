"""Settings: one frozen class a service, read once from the environment and `.env`, all faults at once.

An empty variable counts as unset. Each secret may come from the file that NAME_FILE names instead. What
a service needs of its own lies in its config.py, which extends ServiceSettings.
"""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from onechat_runtime.errors import StartRefused

T = TypeVar("T")

_REQUIRED: Final = object()
_KEY: Final = "onechat_setting"

SERVICE_PORTS: Final = {
    "agent": 50051,
    "memory": 50052,
    "whatsapp": 50053,
    "telegram": 50054,
    "scheduler": 50055,
}
METRICS_ABOVE: Final = 1000  # the port of /healthz and /metrics is the service's plus this
PORT_MAX: Final = 65535 - METRICS_ABOVE
LOG_LEVELS: Final = ("debug", "info", "warning", "error")


class SettingsFaulty(StartRefused):
    """Every fault of the settings, one line each."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


class Secret:
    """A value that shows itself only when asked by name, so that no log or error prints it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The value itself."""
        return self._value

    def __repr__(self) -> str:
        return "Secret(…)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setting:
    variable: str
    parse: Callable[[str], object]
    default: object
    doc: str
    secret: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """What one variable is for; a test keeps .env.example true with it."""

    variable: str
    default: str | None  #: as a person would write it; None when there is none
    doc: str
    secret: bool


def setting(
    variable: str, *, parse: Callable[[str], object] = str, default: object = _REQUIRED, doc: str
) -> Any:
    """A dataclass field that is read from `variable`.

    `parse` raises ValueError with what to write instead. Without a default the variable must be set.
    """
    made = _Setting(variable=variable, parse=parse, default=default, doc=doc, secret=False)
    return _field(made)


def secret(variable: str, *, doc: str, required: bool = False) -> Any:
    """A field of type `Secret | None` that is read from `variable` or the file `variable`_FILE names."""
    default = _REQUIRED if required else None
    return _field(_Setting(variable=variable, parse=Secret, default=default, doc=doc, secret=True))


def _field(made: _Setting) -> Any:
    if made.default is _REQUIRED:
        return field(metadata={_KEY: made})
    return field(default=made.default, metadata={_KEY: made})


def address_of(service: str) -> Any:
    """The address of `service`, ONECHAT_<SERVICE>_ADDRESS: for the service itself and for its callers."""
    return setting(
        f"ONECHAT_{service.upper()}_ADDRESS",
        parse=address,
        default=f"127.0.0.1:{SERVICE_PORTS[service]}",
        doc=f"where the {service} service listens: HOST:PORT, or unix:/path",
    )


def address(text: str) -> str:
    """`text` when it is HOST:PORT or unix:/path; else ValueError."""
    host, _, port = text.rpartition(":")
    if text.startswith("unix:/") or (host and port.isascii() and port.isdigit() and int(port) <= PORT_MAX):
        return text
    raise ValueError("write HOST:PORT, such as 127.0.0.1:50051, or unix:/path")


def one_of(*names: str) -> Callable[[str], str]:
    """A parser that takes one of `names`, whatever its case."""

    def parse(text: str) -> str:
        if text.lower() in names:
            return text.lower()
        raise ValueError(f"write one of {', '.join(names)}")

    return parse


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """A parser that takes a whole number from `least` to `most`."""

    def parse(text: str) -> int:
        if text.isascii() and text.lstrip("-").isdigit() and least <= int(text) <= most:
            return int(text)
        raise ValueError(f"write a whole number from {least} to {most}")

    return parse


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """What every service is told; a service's own class extends it and sets `address` by `address_of`."""

    data: Path = setting("ONECHAT_DATA", parse=Path, default=Path("data"), doc="the data folder")
    log_level: str = setting(
        "ONECHAT_LOG",
        parse=one_of(*LOG_LEVELS),
        default="info",
        doc=f"how much to log: {', '.join(LOG_LEVELS)}",
    )
    token_file: Path | None = setting(
        "ONECHAT_TOKEN_FILE",
        parse=Path,
        default=None,
        doc="file with this caller's token; unset: the one in DATA/tokens, made at the first start",
    )
    callers_file: Path | None = setting(
        "ONECHAT_CALLERS_FILE",
        parse=Path,
        default=None,
        doc="file with the hashes of all tokens; unset: the one in DATA/tokens, made at the first start",
    )
    address: str


def load(cls: type[T], environ: Mapping[str, str]) -> T:
    """The settings that `environ` holds, as an instance of the dataclass `cls`.

    Raises SettingsFaulty with all faults. A ValueError of `cls`'s __post_init__ is one of them.
    """
    faults: list[str] = []
    values: dict[str, object] = {}
    for name, made in _settings_of(cls).items():
        try:
            values[name] = _read(made, environ)
        except ValueError as fault:
            faults.append(str(fault))
    if not faults:
        try:
            return cls(**values)
        except ValueError as fault:
            faults.append(str(fault))
    raise SettingsFaulty(faults)


def described(cls: type[object]) -> list[Described]:
    """Every variable that `cls` is read from, in the order of its fields."""
    return [
        Described(
            variable=made.variable,
            default=_written(made.default),
            doc=made.doc,
            secret=made.secret,
        )
        for made in _settings_of(cls).values()
    ]


def _written(default: object) -> str | None:
    """`default` as a person would write it; None when there is none."""
    if default is None or default is _REQUIRED:
        return None
    return str(int(default)) if isinstance(default, bool) else str(default)


def _settings_of(cls: type[object]) -> dict[str, _Setting]:
    if not dataclasses.is_dataclass(cls):
        raise TypeError(f"{cls.__name__} is no dataclass")
    found: dict[str, _Setting] = {}
    for one in dataclasses.fields(cls):
        if _KEY in one.metadata:
            found[one.name] = one.metadata[_KEY]
        elif one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING:
            raise TypeError(
                f"{cls.__name__}.{one.name} is no setting: name its variable, with address_of or setting"
            )
    return found


def _read(made: _Setting, environ: Mapping[str, str]) -> object:
    text = environ.get(made.variable, "")
    if made.secret:
        text = _secret_text(made.variable, text, environ.get(f"{made.variable}_FILE", ""))
    if not text:
        if made.default is _REQUIRED:
            raise ValueError(f"{made.variable} is not set: {made.doc}")
        return made.default
    try:
        return made.parse(text)
    except ValueError as fault:
        shown = "" if made.secret else f" ({text!r})"
        raise ValueError(f"{made.variable}{shown}: {fault}") from None


def _secret_text(variable: str, text: str, file: str) -> str:
    if not file:
        return text
    if text:
        raise ValueError(f"{variable} and {variable}_FILE are both set: keep one of them")
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as fault:
        cause = fault.strerror if isinstance(fault, OSError) else "it is not UTF-8 text"
        raise ValueError(f"{variable}_FILE names {file}, which cannot be read: {cause}") from None


def read_dotenv(path: Path) -> dict[str, str]:
    """The variables of the `.env` file at `path`, as they stand, nothing in them expanded; {} without one.

    Raises StartRefused that names the file and the line that is broken.
    """
    from dotenv.parser import parse_stream

    try:
        with path.open(encoding="utf-8") as stream:
            bindings = list(parse_stream(stream))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as fault:
        cause = fault.strerror if isinstance(fault, OSError) else "it is not UTF-8 text"
        raise StartRefused(f"{path} cannot be read: {cause}") from None
    found: dict[str, str] = {}
    for binding in bindings:
        if binding.error or (binding.key is not None and binding.value is None):
            line = binding.original.line + _blank_lines_before(binding.original.string)
            raise StartRefused(f"{path}, line {line}: not NAME=value; correct or remove the line")
        if binding.key is not None and binding.value is not None:
            found[binding.key] = binding.value
    return found


def overlaid(dotenv: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    """`environ` over `dotenv`; a secret's NAME and NAME_FILE replace one another."""
    told = {name: value for name, value in environ.items() if value}
    replaced = {f"{name}_FILE" for name in told} | {name.removesuffix("_FILE") for name in told}
    return {name: value for name, value in dotenv.items() if name not in replaced} | told


def _blank_lines_before(text: str) -> int:
    return text[: len(text) - len(text.lstrip())].count("\n")
