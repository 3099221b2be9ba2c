"""Whether the library that speaks to WhatsApp can be loaded here. It is not loaded for that."""

import ctypes.util
from importlib.util import find_spec


def missing() -> str:
    """Why neonize can't be loaded; "" when it can."""
    if find_spec("neonize") is None:
        return "neonize is not installed here: see requirements/whatsapp.txt"
    if not ctypes.util.find_library("magic"):
        return "neonize is here, but the system's libmagic is not: apt install libmagic1"
    return ""
