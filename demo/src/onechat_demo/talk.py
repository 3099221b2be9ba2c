"""Small talk: what the demo model says when nothing is to be run. Pure.

Each reply begins with SIGNATURE, so that nobody takes the demo for a real model.
"""

import re

from onechat_demo.prompt import Prompt, Said, Voice

SIGNATURE = "Demo model: "
CLIP_MAX = 1500  # characters of tool output in one reply, for all results together
HOW_TO = (
    "Try: run ls · zoom 0 1 · read PATH · write PATH: text · remind me in 2 minutes to WORD · "
    "what did I say about WORD?"
)
HOW_TO_MEMBERS = "Try: zoom 0 1 · what did we say about WORD?"

_GREETING = re.compile(r"\W*(hi|hello|hey|hallo|good (?:morning|day|afternoon|evening))\b", re.IGNORECASE)
_THANKS = re.compile(r"\b(thanks|thank you|cheers)\b", re.IGNORECASE)
_TIME = re.compile(r"\b(what(?:'s| is)? the (?:time|date)|what (?:time|day|date)|how late)\b", re.IGNORECASE)
_LINES = re.compile(r"\b(how many|what do you (?:see|remember)|how (?:long|big))\b", re.IGNORECASE)
_ABOUT = re.compile(r"\b(who are you|what are you|what can you do|help)\b", re.IGNORECASE)
_LABEL = re.compile(r"\w+:\s+")
_CLOCK = re.compile(r"\d{1,2}:\d{2}")


def reply_to(message: Said, prompt: Prompt) -> str:
    """A reply to a message that asks for no tool; unsigned."""
    text = message.text.strip()
    how_to = HOW_TO_MEMBERS if message.voice is Voice.MEMBER else HOW_TO
    pictures = f" I got {message.images} picture with it, which I cannot look at." if message.images else ""
    if _ABOUT.search(text):
        return f"I answer by rules, not by thinking, until a real model is set up. {how_to}{pictures}"
    if _TIME.search(text):
        return f"{_time_said(prompt) or 'Nobody told me the time.'}{pictures}"
    if _LINES.search(text):
        return f"{_view_said(prompt)}{pictures}"
    if _THANKS.search(text):
        return f"You are welcome.{pictures}"
    if _GREETING.match(text):
        return " ".join(filter(None, ("Hello.", _time_said(prompt), _view_said(prompt), how_to))) + pictures
    said = f"You said: {clipped(text, 300)}" if text else "You said nothing."
    return f"{said}{pictures} It is in the chat now, and I can look it up again. {how_to}"


def signed(text: str) -> str:
    """`text` as a reply that says whose it is."""
    return SIGNATURE + text


def clipped(text: str, limit: int) -> str:
    """`text` in at most about `limit` characters: head and tail, with what is left out said between."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    return f"{text[:head]} … ({len(text) - head - tail} characters left out) … {text[len(text) - tail :]}"


def _time_said(prompt: Prompt) -> str:
    """What the state block says of the time; empty when no line of it holds one."""
    for line in prompt.state.splitlines():
        if _CLOCK.search(line):
            return f"It is {_LABEL.sub('', line.strip()).rstrip('.')}."
    return ""


def _view_said(prompt: Prompt) -> str:
    if not prompt.view:
        return "I see no earlier line of our chat."
    messages = prompt.view[-1].first + prompt.view[-1].count
    lines = len(prompt.view)
    return (
        f"I see {lines} line{'s' if lines > 1 else ''} of our chat, which stand for "
        f"{messages} message{'s' if messages > 1 else ''}."
    )
