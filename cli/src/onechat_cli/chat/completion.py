"""Completion of `/` commands, with what each does."""

from collections.abc import Iterable

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from onechat_cli.domain.typed import COMMANDS


class SlashCompleter(Completer):
    """Offers the commands that begin with what is typed, when that begins with a slash."""

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """The commands that fit the text before the cursor."""
        typed = document.text_before_cursor
        if not typed.startswith("/") or "\n" in typed:
            return
        for command, meaning in COMMANDS.items():
            if command.startswith(typed.lower()) and command != typed:
                yield Completion(command, start_position=-len(typed), display_meta=meaning)
