"""What becomes of a pairing, in plain words. Pure.

What WhatsApp's library calls each way: the status words in wire/events.py, and the texts of PairingRefused.
"""

from enum import StrEnum
from typing import Final

CODE_S: Final = 160.0  #: how long WhatsApp takes a code


class Failure(StrEnum):
    """Why there is no link after all."""

    NOT_TYPED = "not_typed"
    PASSKEY = "passkey"
    OUTDATED = "outdated"
    BANNED = "banned"
    BROKEN = "broken"
    REFUSED = "refused"
    OFTEN = "often"
    GIVEN_UP = "given_up"
    PHONE = "phone"


SENTENCES: Final = {
    Failure.NOT_TYPED: (
        "WhatsApp was not linked: the pairing code was not typed in within its 160 seconds. Run "
        "/whatsapp pair PHONE for a new one."
    ),
    Failure.PASSKEY: (
        "WhatsApp was not linked: it asks this account for a passkey, which cannot be given from here. It "
        "asks mostly Business accounts and those that have a passkey. WhatsApp on the phone shows in "
        "Settings, Account, Passkeys whether yours has one; without it, linking may work."
    ),
    Failure.OUTDATED: (
        "WhatsApp was not linked: it wants a newer version of what connects here. Update onechat, then run "
        "/whatsapp pair PHONE again."
    ),
    Failure.BANNED: (
        "WhatsApp was not linked: it has shut the account out for a time. Open WhatsApp on the phone: it "
        "says why and until when."
    ),
    Failure.BROKEN: (
        "WhatsApp was not linked: the connection broke before the code was typed in. Run /whatsapp pair "
        "PHONE again."
    ),
    Failure.REFUSED: (
        "WhatsApp gave no link for this number. Check that WhatsApp on the phone has that number; then run "
        "/whatsapp pair PHONE again in some minutes."
    ),
    Failure.OFTEN: (
        "WhatsApp gave no code because codes were asked for too often. Wait an hour, then run /whatsapp pair "
        "PHONE again."
    ),
    Failure.GIVEN_UP: "WhatsApp was not linked: /whatsapp unlink has ended the pairing.",
}
_STATUSES: Final = {
    "timeout": Failure.NOT_TYPED,
    "passkey-request": Failure.PASSKEY,
    "err-client-outdated": Failure.OUTDATED,
}
_PHONE: Final = ("too short", "international phone number", "too long")
# What SQLite says of a file that it can make nothing of, such as a half of one that was put back by hand.
_UNUSABLE: Final = ("file is not a database", "malformed", "unable to open database file")
_OFTEN: Final = ("429", "rate-overlimit", "rate overlimit", "too many")


def failure_of(status: str) -> Failure | None:
    """Which failure the library's status word means; None for success and for what leaves it open."""
    if status in _STATUSES:
        return _STATUSES[status]
    return Failure.REFUSED if status.startswith("err") else None


def is_unusable_session(fault: str) -> bool:
    """Whether a connection fails, as `fault` says, for what is left of a session that can't be used."""
    return any(words in fault for words in _UNUSABLE)


def failure_in(refusal: str) -> Failure:
    """Which failure the library's reason for giving no code means."""
    said = refusal.lower()
    if any(words in said for words in _PHONE):
        return Failure.PHONE
    if any(words in said for words in _OFTEN):
        return Failure.OFTEN
    return Failure.REFUSED
