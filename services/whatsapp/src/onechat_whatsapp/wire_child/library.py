"""What the child process needs of the library that speaks to WhatsApp, and what stands in when it is missing.

The real one: neonize_client.py. Each method is a call of wire/calls.py, and raises the failures of
wire/ports.py.
"""

from typing import Protocol

from onechat_whatsapp.wire.ports import GroupRow, LibraryMissing, WireGone


class Library(Protocol):
    """One session, one connection. It was given where to put events when it was made."""

    async def dial(self) -> None:
        """Connect; again after one that failed. Raises DialFailed, LibraryMissing, WireGone (the process is
        spent)."""

    async def hang_up(self) -> None:
        """End the connection as far as it can be ended; the process ends right after. Raises nothing."""

    async def pair(self, phone: str) -> str:
        """A pairing code. Raises PairingRefused, WireGone."""

    async def logout(self) -> None:
        """End the link on WhatsApp's side. Raises WireGone."""

    async def is_online(self) -> bool:
        """Whether the account is logged in over a connection that stands."""

    async def groups(self) -> list[GroupRow]:
        """The user's groups, from WhatsApp. Raises WireGone."""

    async def send_text(self, chat: str, text: str) -> str:
        """WhatsApp's id of the message. Raises NotSent, OutcomeUnknown."""

    async def send_image(self, chat: str, data: bytes, mime: str, caption: str) -> str:
        """Likewise."""


class MissingLibrary:
    """Stands where the library can't be loaded, and says so to whoever dials."""

    def __init__(self, sentence: str) -> None:
        self._sentence = sentence

    async def dial(self) -> None:
        raise LibraryMissing(self._sentence)

    async def hang_up(self) -> None:
        return

    async def pair(self, phone: str) -> str:
        raise WireGone(self._sentence)

    async def logout(self) -> None:
        raise WireGone(self._sentence)

    async def is_online(self) -> bool:
        return False

    async def groups(self) -> list[GroupRow]:
        raise WireGone(self._sentence)

    async def send_text(self, chat: str, text: str) -> str:
        raise WireGone(self._sentence)

    async def send_image(self, chat: str, data: bytes, mime: str, caption: str) -> str:
        raise WireGone(self._sentence)


def sentence_for(error: BaseException) -> str:
    """What to tell a person where loading the library failed with `error`: what is missing, what to do."""
    text = str(error)
    if "libmagic" in text:
        return (
            "WhatsApp needs the system's library libmagic, which is not installed. On Debian and Ubuntu:"
            " sudo apt install libmagic1. Then try again."
        )
    if isinstance(error, ModuleNotFoundError):
        return (
            f"WhatsApp needs the Python package {error.name}, which is not installed. Run make setup, then"
            " try again."
        )
    if "GLIBC" in text:
        return (
            "The library that speaks to WhatsApp, neonize, needs a newer system: Debian 12, Ubuntu 22.04, or"
            " another with glibc 2.34."
        )
    return (
        f"The library that speaks to WhatsApp, neonize, cannot be loaded ({type(error).__name__}: {text})."
        " It is known to work on Linux with glibc 2.34 or newer."
    )
