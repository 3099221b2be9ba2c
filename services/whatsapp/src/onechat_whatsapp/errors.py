"""What the WhatsApp gateway refuses, each with the reason that its contract names.

The sentence of each says what to do, to a person or to an agent that passes it on.
"""

from grpc import StatusCode
from onechat_runtime.errors import BadPage, BadRequestId, ServiceError

__all__ = ["BadPage", "BadRequestId"]


class PhoneInvalid(ServiceError):
    """This is no phone number in international form. Write it like +1 555 000 2222: the country's code first,
    with no 0 before it."""

    code, reason = StatusCode.INVALID_ARGUMENT, "PHONE_INVALID"


class LinkedAlready(ServiceError):
    """A WhatsApp account is linked. Run /whatsapp unlink first to link another one."""

    code, reason = StatusCode.FAILED_PRECONDITION, "LINKED_ALREADY"


class PairingRuns(ServiceError):
    """A pairing is under way. Use its code; or wait until it ends, within three minutes; or end it now by
    /whatsapp unlink."""

    code, reason = StatusCode.FAILED_PRECONDITION, "PAIRING_RUNS"


class PasskeyWanted(ServiceError):
    """WhatsApp asks this account for a passkey to link a device, which cannot be given here."""

    code, reason = StatusCode.FAILED_PRECONDITION, "PASSKEY_WANTED"


class LibraryMissing(ServiceError):
    """What speaks to WhatsApp cannot be started here."""

    code, reason = StatusCode.FAILED_PRECONDITION, "LIBRARY_MISSING"


class NotConnected(ServiceError):
    """There is no connection to WhatsApp now, and nothing was sent. It is made again by itself: try later."""

    code, reason = StatusCode.UNAVAILABLE, "NOT_CONNECTED"


class NotLinked(ServiceError):
    """WhatsApp is not linked. The user can link it: /whatsapp pair PHONE."""

    code, reason = StatusCode.FAILED_PRECONDITION, "NOT_LINKED"


class NamesNotReady(ServiceError):
    """The names have not come from the phone yet, which takes some minutes after the link. Try again then."""

    code, reason = StatusCode.FAILED_PRECONDITION, "NAMES_NOT_READY"


class ChatUnknown(ServiceError):
    """There is no such chat, and nothing was sent. Take an id as a search by name gives it."""

    code, reason = StatusCode.NOT_FOUND, "CHAT_UNKNOWN"


class MessageEmpty(ServiceError):
    """There is neither a text nor an image, so nothing was sent."""

    code, reason = StatusCode.INVALID_ARGUMENT, "MESSAGE_EMPTY"


class ImageInvalid(ServiceError):
    """This is no PNG, JPEG, WebP or GIF image, and nothing was sent."""

    code, reason = StatusCode.INVALID_ARGUMENT, "IMAGE_INVALID"


class SendUnknown(ServiceError):
    """There is no send with this id among the last 1,000."""

    code, reason = StatusCode.NOT_FOUND, "SEND_UNKNOWN"
