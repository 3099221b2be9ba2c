"""Which server answers the model calls, and what of the Responses API it does not have.

OpenAI's own address has everything; any other is taken to lack the first three of Lack until
ONECHAT_ENDPOINT_LACKS says otherwise. How a request is shaped by it: wire.py.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

from onechat_runtime.settings import Secret

from onechat_agent import sentences

OPENAI_URL: Final = "https://api.openai.com/v1"
_OPENAI_HOST: Final = "api.openai.com"
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class Lack(StrEnum):
    """What a server cannot do; ONECHAT_ENDPOINT_LACKS names them so."""

    ENCRYPTED_REASONING = "encrypted_reasoning"  #: giving and taking back encrypted reasoning items
    TOOL_IMAGES = "tool_images"  #: pictures in a tool's output
    CACHE_OPTIONS = "cache_options"  #: prompt_cache_options and prompt_cache_breakpoint
    STRICT = "strict"  #: strict function schemas
    PARALLEL_CALLS = "parallel_calls"  #: the parallel_tool_calls parameter


OTHERS_LACK: Final = frozenset({Lack.ENCRYPTED_REASONING, Lack.TOOL_IMAGES, Lack.CACHE_OPTIONS})


def lacks(text: str) -> frozenset[Lack]:
    """The switches of ONECHAT_ENDPOINT_LACKS, in any order; `none` for a server that has everything."""
    names = {name.strip().lower() for name in text.replace(";", ",").split(",")} - {""}
    if names == {"none"}:
        return frozenset()
    if not names or not names <= {str(lack) for lack in Lack}:
        raise ValueError(sentences.SETTING_LACKS.format(names=", ".join(Lack)))
    return frozenset(Lack(name) for name in names)


def base_url(text: str) -> str:
    """`text` without a slash at its end, when it is an http or https address; else ValueError."""
    address = text.strip()
    try:
        parts = urlsplit(address)
        named = parts.port != 0 and bool(parts.hostname)
    except ValueError:  # a port that is no number, a broken IPv6 address
        named = False
    if not named or parts.scheme not in ("http", "https") or any(letter.isspace() for letter in address):
        raise ValueError(sentences.SETTING_BASE_URL)
    return address.rstrip("/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A server with the Responses API."""

    base_url: str = OPENAI_URL
    api_key: Secret | None = None  #: local servers need none
    lacks: frozenset[Lack] = frozenset()

    def __post_init__(self) -> None:
        key = self.api_key.reveal() if self.api_key else ""
        if not key.isascii() or any(letter.isspace() or not letter.isprintable() for letter in key):
            raise ValueError(sentences.SETTING_KEY)

    @classmethod
    def of(
        cls, *, url: str | None, api_key: Secret | None, lacking: frozenset[Lack] | None = None
    ) -> "Endpoint":
        """The endpoint at `url` (None: OpenAI's own); `lacking` None: what its address lets expect."""
        found = cls(base_url=base_url(url or OPENAI_URL), api_key=api_key)
        if lacking is None:
            lacking = frozenset() if found.is_openai else OTHERS_LACK
        return cls(base_url=found.base_url, api_key=api_key, lacks=lacking)

    @property
    def host(self) -> str:
        """The server's name, for people and logs."""
        return urlsplit(self.base_url).hostname or ""

    @property
    def is_openai(self) -> bool:
        """Whether it is OpenAI's own address, or one of its regions."""
        return self.host == _OPENAI_HOST or self.host.endswith(f".{_OPENAI_HOST}")

    @property
    def is_loopback(self) -> bool:
        """Whether it runs on this machine, where no proxy of the environment leads."""
        return self.host in _LOOPBACK

    @property
    def takes_cache_key(self) -> bool:
        """Whether prompt_cache_key is sent: OpenAI's older models know it without the cache options."""
        return self.is_openai or Lack.CACHE_OPTIONS not in self.lacks
