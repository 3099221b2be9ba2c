"""Prompts are written here in wrapped lines, which people can read, and sent in whole paragraphs. Pure."""

import re
from textwrap import dedent
from typing import Final

_WRAP: Final = re.compile(r"(?<=\S)\n(?=[^\s\-#<])")


def prose(text: str) -> str:
    """`text` without its indentation, each paragraph and each `- ` item on one line.

    Lines that begin with a space, `-`, `#` or `<` begin anew; so do lines after an empty one.
    """
    return _WRAP.sub(" ", dedent(text).strip())
