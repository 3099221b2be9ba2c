"""The one-time code by which a chat becomes the owner's. Chance is given from outside."""

import hmac
from collections.abc import Callable, Sequence
from typing import Final

CODE_LETTERS: Final = "abcdefghjkmnpqrstuvwxyz23456789"  # without what is read for another
CODE_LENGTH: Final = 10  # 31 ** 10, about 2 ** 49


def new_code(choose: Callable[[Sequence[str]], str]) -> str:
    """A fresh code, each letter by `choose`."""
    return "".join(choose(CODE_LETTERS) for _ in range(CODE_LENGTH))


def same_code(code: str, given: str) -> bool:
    """Whether `given` is `code`, whatever its case; takes the same time whichever it is."""
    return bool(code) and hmac.compare_digest(code.encode(), given.strip().lower().encode("utf-8", "replace"))
