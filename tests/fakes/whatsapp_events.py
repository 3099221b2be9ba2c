"""Events as the real library gives them: its own protobuf classes, loaded without the library.

    said(text("hello"), chat=BOB, sender=BOB)        # a message event
    proto("Connected")(status=True)                  # any other

`MISSING` is the reason to skip where neonize is not installed. Each event has been through its bytes, since a
field that is missing shows only there. The people are those of whatsapp_scripts.py.
"""

import importlib
import sys
from functools import cache
from importlib.util import find_spec
from typing import Any

FLAGS = (
    "IsEphemeral", "IsViewOnce", "IsViewOnceV2", "IsViewOnceV2Extension", "IsDocumentWithCaption",
    "IsLottieSticker", "IsEdit",
)  # fmt: skip
WRITTEN_MS = 1_800_000_000_000
_SPEC = find_spec("neonize")
MISSING = "" if _SPEC else "neonize is not installed: see requirements/whatsapp.txt"


@cache
def _module(name: str) -> Any:
    """A generated module of neonize's, by the short name that the others import it by.

    Its package is not imported: that would load a Go library and need libmagic.
    """
    assert _SPEC is not None
    assert _SPEC.submodule_search_locations is not None
    folder = f"{_SPEC.submodule_search_locations[0]}/proto"
    if folder not in sys.path:
        sys.path.append(folder)
    return importlib.import_module(name)


def proto(name: str) -> Any:
    """The class of an event, or of a part of one: "Connected", "JID"."""
    return getattr(_module("Neonize_pb2"), name)


def e2e(name: str) -> Any:
    """The class of a message's content, or of a part of it: "Message", "ContextInfo"."""
    return getattr(_module("waE2E.WAWebProtobufsE2E_pb2"), name)


def content(**fields: Any) -> Any:
    """A message's content."""
    return e2e("Message")(**fields)


def text(words: str, **context: Any) -> Any:
    """A text with a context, as a mention or a reply needs it."""
    return content(
        extendedTextMessage=e2e("ExtendedTextMessage")(text=words, contextInfo=e2e("ContextInfo")(**context))
    )


def plain(words: str) -> Any:
    """A text with nothing beside it."""
    return content(conversation=words)


def library_jid(written: str = "") -> Any:
    """An id, such as "15550001111:7@s.whatsapp.net"; an empty one without `written`."""
    user, _, server = written.partition("@")
    user, _, device = user.partition(":")
    return proto("JID")(
        User=user, Server=server, Device=int(device or 0), RawAgent=0, Integrator=0, IsEmpty=not server
    )


def through_bytes(event: Any) -> Any:
    """`event` as it arrives. Raises where a field that must be there is not."""
    return type(event).FromString(event.SerializeToString())


def info(
    *,
    chat: str,
    sender: str,
    from_me: bool = False,
    sender_alt: str = "",
    recipient_alt: str = "",
    message_id: str = "3EB0AA",
    push_name: str = "Bob",
    written_ms: int = WRITTEN_MS,
    edit: str = "",
    category: str = "",
) -> Any:
    """What stands around a message."""
    source = proto("MessageSource")(
        Chat=library_jid(chat),
        Sender=library_jid(sender),
        IsFromMe=from_me,
        IsGroup=chat.endswith(("@g.us", "@broadcast")),
        SenderAlt=library_jid(sender_alt),
        RecipientAlt=library_jid(recipient_alt),
        BroadcastListOwner=library_jid(),
    )
    return proto("MessageInfo")(
        MessageSource=source,
        ID=message_id,
        ServerID=0,
        Type="text",
        Pushname=push_name,
        Timestamp=written_ms,
        Category=category,
        Multicast=False,
        MediaType="",
        Edit=edit,
    )


def said(message: Any, *, flags: tuple[str, ...] = (), retry: int = 0, asked: str = "", **around: Any) -> Any:
    """A message event; `flags` are set, `asked` is the request that it answers, `around` is `info`'s."""
    return through_bytes(
        proto("Message")(
            Info=info(**around),
            Message=message,
            Raw=message,
            UnavailableRequestID=asked,
            RetryCount=retry,
            **{flag: flag in flags for flag in FLAGS},
        )
    )


def keyless(*, unavailable: bool = False, hide: bool = False, **around: Any) -> Any:
    """A message that could not be decrypted."""
    kind = proto("UndecryptableMessage")
    return through_bytes(
        kind(
            Info=info(**around),
            IsUnavailable=unavailable,
            DecryptFailMode=kind.DECRYPT_FAIL_HIDE if hide else kind.DECRYPT_FAIL_SHOW,
        )
    )
