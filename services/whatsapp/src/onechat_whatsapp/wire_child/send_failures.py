"""What the library's words on a failed send mean: surely not sent, or not known.

The words are whatsmeow's, as its source and a stand-in server gave them for neonize 0.5.2. Any that are not
known here count as not known: a message that may be out must not be sent again.
"""

import re
from typing import Final

from onechat_whatsapp.wire.ports import NotSent, OutcomeUnknown

# It never had a connection to leave by.
_OFFLINE: Final = re.compile(r"websocket not connected|client is nil|the store doesn't contain a device JID")
# It failed before the message was handed to the connection, or WhatsApp refused it.
_NOT_SENT: Final = re.compile(
    r"failed to get device list|failed to get group (members|info)|no LID found|server returned error"
    r"|failed to (upload|encrypt|marshal)|unknown server"
)


def failure_of(words: str) -> NotSent | OutcomeUnknown:
    """The port's failure for a send that ended with the library's `words`."""
    if _OFFLINE.search(words):
        return NotSent(words, offline=True)
    if _NOT_SENT.search(words):
        return NotSent(words)
    return OutcomeUnknown(words)


def upload_failure_of(words: str) -> NotSent:
    """Likewise for an image that could not be uploaded: its message was never made."""
    return NotSent(words, offline=bool(_OFFLINE.search(words)))
