"""How messages and views look to the model."""

from onechat_agent.domain.chat import Kind, Line, MessageId
from onechat_agent.prompts.rendering import REPEATED, ROLLED_OVER, message_text, view_text


def test_a_message_stands_after_its_kind():
    assert message_text(Kind.USER, "hello\nthere") == "user: hello\nthere"
    assert message_text(Kind.WORK, "[House] done") == "work: [House] done"


def test_a_view_is_its_lines_between_tags():
    lines = [Line(first=MessageId(0), count=8, text="user: hi", built=True).shown(), "8+1|reply: hello"]

    assert view_text(lines) == "<chat>\n0+8|user: hi\n8+1|reply: hello\n</chat>"
    assert view_text([]) == "<chat>\n</chat>"


def test_onechats_own_remarks_are_told_from_messages_by_their_brackets():
    assert all(remark.startswith("(") and remark.endswith(")") for remark in (REPEATED, ROLLED_OVER))
