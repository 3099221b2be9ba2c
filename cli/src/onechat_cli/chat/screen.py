"""The chat on a terminal: what is final goes into the scroll-back, below it what changes and the input.

Nothing is drawn twice and nothing scrolls by itself, so that a terminal's own search, selection and scrolling
work. Keys: keys.py. Looks: looks.py.
"""

import asyncio
import os
import signal
from collections.abc import Sequence
from contextlib import suppress

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition, has_completions
from prompt_toolkit.formatted_text import OneStyleAndTextTuple, StyleAndTextTuples
from prompt_toolkit.history import FileHistory
from prompt_toolkit.input import Input
from prompt_toolkit.layout import (
    BufferControl,
    ConditionalContainer,
    Dimension,
    FormattedTextControl,
    HSplit,
    Layout,
    Window,
)
from prompt_toolkit.layout.menus import CompletionsMenuControl
from prompt_toolkit.layout.processors import AfterInput, ConditionalProcessor
from prompt_toolkit.output import ColorDepth, Output, create_output
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.renderer import print_formatted_text
from prompt_toolkit.styles import merge_styles
from prompt_toolkit.styles.defaults import default_ui_style

from onechat_cli.adapters.drawing import Way, drawing, way_of
from onechat_cli.chat.completion import SlashCompleter
from onechat_cli.chat.conversation import Conversation
from onechat_cli.chat.keys import Burst, bindings
from onechat_cli.chat.looks import PROMPT, STYLE, drawn, live_rows
from onechat_cli.domain.transcript import Kind, Line

_FEW_COLOURS = frozenset({ColorDepth.DEPTH_1_BIT, ColorDepth.DEPTH_4_BIT})  # no picture shows in them
INPUT_ROWS = 10
MENU_ROWS = 6
_PLACEHOLDER = "Enter sends · Alt-Enter: new line · / for commands"


class Screen:
    """The View of a conversation on a terminal."""

    def __init__(self, history: str, *, keys: Input | None = None, output: Output | None = None) -> None:
        self._lines: list[Line | StyleAndTextTuples] = []  # a picture comes as it is drawn
        self._due = False
        self._conversation: Conversation | None = None
        self._buffer = Buffer(
            multiline=True,
            history=FileHistory(history),
            completer=SlashCompleter(),
            complete_while_typing=Condition(lambda: self._buffer.text.startswith("/")),
        )
        self._output = output or create_output()
        if isinstance(self._output, Vt100_Output):
            # Asking a terminal where its cursor is holds up every line that is printed until it answers.
            self._output.enable_cpr = False
        burst = Burst()
        self._app: Application[None] = Application(
            layout=Layout(self._rows()),
            key_bindings=bindings(
                self._buffer,
                burst=burst,
                enter=self._enter,
                interrupt=self._interrupt,
                leave=self.leave,
                answer=self._answer_line,
            ),
            style=merge_styles([default_ui_style(), STYLE]),
            input=keys,
            output=self._output,
            erase_when_done=True,
        )
        self._app.key_processor.before_key_press += burst.note

    def attach(self, conversation: Conversation) -> None:
        """Show `conversation` and send it what is typed."""
        self._conversation = conversation

    async def run(self) -> None:
        """Until the user leaves, or the terminal closes."""
        loop = asyncio.get_running_loop()
        for ends in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(ends, self.leave)
        try:
            with suppress(EOFError):
                await self._app.run_async(pre_run=self._print_due)
        finally:
            for ends in (signal.SIGTERM, signal.SIGHUP):
                loop.remove_signal_handler(ends)

    def show(self, lines: Sequence[Line]) -> None:
        """Print `lines` above the input, with whatever else comes in this turn of the loop."""
        self._print(*lines)

    def _print(self, *what: Line | StyleAndTextTuples) -> None:
        self._lines += what
        if not self._due:
            self._due = True
            asyncio.get_running_loop().call_soon(self._print_due)

    @property
    def shows_pictures(self) -> bool:
        """Whether the terminal can, in one way or another."""
        return self._pictures() is not Way.NONE

    async def draw(self, content: bytes) -> None:
        """Print a picture below what was shown; what is no picture is left out."""
        size = self._output.get_size()
        rows = max(size.rows - INPUT_ROWS, 4)
        self._print(await drawing(content, self._pictures(), columns=size.columns, rows=rows))

    def _pictures(self) -> Way:
        return way_of(os.environ, colours=self._app.color_depth not in _FEW_COLOURS)

    def refresh(self) -> None:
        """Draw what changes again."""
        self._app.invalidate()

    def leave(self) -> None:
        """End `run`."""
        if self._app.is_running and not self._app.is_done:
            self._app.exit()

    def _print_due(self) -> None:
        """Take the input away, print what is final where it stood, and draw the input below."""
        self._due = False
        if not self._app.is_running or not self._lines:
            return
        columns, fragments = self._output.get_size().columns, list[OneStyleAndTextTuple]()
        for due in self._lines:
            fragments += drawn([due], columns) if isinstance(due, Line) else due
        depth = self._depth(drawing=any(not isinstance(due, Line) for due in self._lines))
        self._lines.clear()
        self._app.renderer.erase(leave_alternate_screen=False)
        style = self._app.style
        assert style is not None
        print_formatted_text(self._output, fragments, style, color_depth=depth)
        self._app.invalidate()

    def _depth(self, *, drawing: bool) -> ColorDepth:
        """How many colours are printed: a picture has all that the terminal says it has."""
        usual = self._app.color_depth
        every = os.environ.get("COLORTERM", "") in ("truecolor", "24bit")
        return ColorDepth.DEPTH_24_BIT if drawing and every and usual not in _FEW_COLOURS else usual

    def _enter(self, text: str) -> None:
        if self._conversation is not None:
            self._conversation.say(text)

    def _answer_line(self, word: str) -> str:
        """The command that answers what the status row names; empty when nothing is asked."""
        asked = self._conversation.transcript.awaiting.next if self._conversation is not None else None
        return "" if asked is None else f"/{word} {asked}"

    def _interrupt(self) -> None:
        """Ctrl-C: end the turn at work; else clear what is typed; else say how to leave."""
        conversation = self._conversation
        if conversation is not None and conversation.transcript.busy and conversation.connected:
            conversation.stop()
        elif self._buffer.text:
            self._buffer.reset()
        else:
            self.show([Line(kind=Kind.REMARK, text="Ctrl-D or /quit leaves", first=True)])

    def _rows(self) -> HSplit:
        live = FormattedTextControl(self._live)
        line = BufferControl(
            self._buffer,
            input_processors=[
                ConditionalProcessor(
                    AfterInput(_PLACEHOLDER, style="class:placeholder"),
                    Condition(lambda: not self._buffer.text),
                )
            ],
        )
        return HSplit(
            [
                ConditionalContainer(
                    Window(live, dont_extend_height=True), Condition(lambda: bool(self._live()))
                ),
                Window(height=1),
                Window(
                    line,
                    wrap_lines=True,
                    dont_extend_height=True,
                    height=Dimension(min=1, max=INPUT_ROWS),
                    get_line_prefix=lambda row, wrap: [
                        ("class:prompt", PROMPT if row == 0 and wrap == 0 else " " * len(PROMPT))
                    ],
                ),
                ConditionalContainer(
                    Window(
                        CompletionsMenuControl(),
                        height=Dimension(min=1, max=MENU_ROWS),
                        dont_extend_height=True,
                        dont_extend_width=True,
                    ),
                    has_completions,
                ),
                Window(FormattedTextControl(self._status), height=1, style="class:status"),
            ]
        )

    def _live(self) -> StyleAndTextTuples:
        if self._conversation is None:
            return []
        transcript, size = self._conversation.transcript, self._output.get_size()
        rows = max(size.rows - INPUT_ROWS - 2, 3)
        return live_rows(transcript.live, transcript.calls.at_work, size.columns, rows)

    def _status(self) -> str:
        conversation = self._conversation
        if conversation is None:
            return ""
        waiting = f" · {conversation.unsent} to be sent" if conversation.unsent else ""
        if not conversation.connected:
            return f"  {'away, trying again' if conversation.tried else 'connecting'}{waiting}"
        name = conversation.name or "the agent"
        doing = "at work · Ctrl-C stops" if conversation.transcript.busy else "ready"
        asked = conversation.transcript.awaiting.next
        question = "" if asked is None else f" · proposal {asked}: Alt-Y yes, Alt-N no, then Enter"
        return f"  {name} · {doing}{question}{waiting}"
