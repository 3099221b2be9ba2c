"""Which of what is typed is first tried as a command, and which may hold a phone number."""

import pytest
from onechat_cli.domain.typed import COMMANDS, is_command, is_private


@pytest.mark.parametrize("line", [*COMMANDS, "/stopp", "/x y"])
def test_a_line_with_a_slash_and_a_letter_is_tried_as_a_command(line):
    assert is_command(line)


@pytest.mark.parametrize("text", ["", "/", "/ help", "/7", "stop", "see /help", "/help\nand more", "//help"])
def test_anything_else_is_a_message(text):
    assert not is_command(text)


@pytest.mark.parametrize("text", ["/whatsapp pair\n+39 333 123 4567", "/WhatsApp pair +39\n333 123 4567"])
def test_a_number_that_was_pasted_with_a_line_end_is_told_to_no_model(text):
    assert is_command(text)
    assert is_private(text)


def test_a_line_with_a_number_is_in_no_history():
    assert is_private(" /WHATSAPP pair +39 333 123 4567")
    assert not is_private("/usage")
