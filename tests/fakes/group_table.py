"""Who is answered in a group: what is written, what it answers, which detectors take it as meant for the bot.

The bot's handle is "robobot". The same table is held over the made-up platform and over Telegram.
"""

from dataclasses import dataclass
from typing import Final

from onechat_telegram.groups.domain.settings import DetectorKind, GroupSettings

THREADS: Final = ("", "roses", "tools")
NAMES: Final = ("@robobot", "Robo", "hey gard*")
# s: simple, m: model, h: hybrid, o: hybrid that may not ask the model.
SETTINGS: Final = {
    "s": GroupSettings(detector=DetectorKind.SIMPLE, names=NAMES),
    "m": GroupSettings(detector=DetectorKind.MODEL, names=NAMES),
    "h": GroupSettings(detector=DetectorKind.HYBRID, names=NAMES),
    "o": GroupSettings(detector=DetectorKind.HYBRID, names=NAMES, ask_model=False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One kind of message."""

    text: str
    answers: str = ""  #: whose message it replies to: "robobot", "anna", or nobody's
    meant: bool = False  #: what the model would say
    answered: str  #: the detectors that answer it
    asked: str  #: the detectors that ask the model


TABLE: Final = (
    Row(text="good morning all", answered="", asked="m"),
    Row(text="@robobot when do roses bloom", meant=True, answered="smho", asked=""),
    Row(text="and in May, @ROBOBOT?", meant=True, answered="smho", asked=""),
    Row(text="@robobot is a program, Anna", answered="smho", asked=""),
    Row(text="look, @robobott is another bot", answered="", asked="m"),
    Row(text="thanks", answers="robobot", answered="smho", asked=""),
    Row(text="thanks", answers="anna", answered="", asked="m"),
    Row(text="/water the roses", meant=True, answered="smho", asked=""),
    Row(text="/water@robobot the roses", meant=True, answered="smho", asked=""),
    Row(text="/water@otherbot the roses", answered="", asked="m"),
    Row(text="robo, what is the weather", meant=True, answered="smho", asked="mh"),
    Row(text="I like how robo writes", answered="so", asked="mh"),
    Row(text="robots are loud", answered="", asked="m"),
    Row(text="which of you machines knows this", meant=True, answered="m", asked="m"),
    Row(text="hey gardeners, help", meant=True, answered="smho", asked="m"),
    Row(text="write to x@robobot or robo@example.org", answered="", asked="m"),
    Row(text="is it raining?", answered="", asked="m"),
)


def is_meant(text: str) -> bool:
    """What the model says of a message, to whose text a number like " #17" may be added."""
    return any(row.meant for row in TABLE if row.text == text.partition(" #")[0])
