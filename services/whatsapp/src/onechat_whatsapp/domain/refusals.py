"""Why a send failed, in a sentence for people and agents. Pure.

The library's own words may hold numbers and ids, so none of them is passed on: they choose a sentence. Which
words mean that nothing was sent: wire_child/send_failures.py.
"""

import re
from typing import Final

_SENTENCES: Final = tuple(
    (re.compile(words), sentence)
    for words, sentence in (
        (r"upload", "The image could not be uploaded."),
        (r"failed to get device list", "WhatsApp did not say which devices the message has to go to."),
        (r"failed to get group", "WhatsApp did not say who is in the group."),
        (r"no LID found", "WhatsApp knows no account with this number."),
        (r"failed to (encrypt|marshal)", "The message could not be encrypted."),
        (r"unknown server|no id of a person or group", "WhatsApp takes no messages for a chat of this kind."),
    )
)
_CODE: Final = re.compile(r"server returned error (\d{3})\b", re.ASCII)


def why_not_sent(words: str) -> str:
    """The sentence for a send that surely was not sent; `words` are the wire's."""
    if code := _CODE.search(words):
        return f"WhatsApp refused it with error {code[1]}."
    return next((said for known, said in _SENTENCES if known.search(words)), "WhatsApp did not take it.")
