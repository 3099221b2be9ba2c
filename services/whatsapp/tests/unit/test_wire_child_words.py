"""What the library's words become: a failed send is surely not sent, or not known, and nothing in between."""

import pytest
from onechat_whatsapp.wire.ports import NotSent, OutcomeUnknown
from onechat_whatsapp.wire_child.send_failures import failure_of, upload_failure_of


@pytest.mark.parametrize(
    "words", ["websocket not connected", "client is nil", "the store doesn't contain a device JID"]
)
def test_without_a_connection_nothing_was_sent(words):
    failure = failure_of(words)

    assert isinstance(failure, NotSent)
    assert failure.offline


@pytest.mark.parametrize(
    "words",
    [
        "failed to get device list: failed to send usync query: info query timed out",
        "no LID found for 15550002222@s.whatsapp.net from server",
        "server returned error 479",
        "can't send message to unknown server hosted",
    ],
)
def test_what_failed_before_the_message_left_or_was_refused_was_not_sent(words):
    failure = failure_of(words)

    assert isinstance(failure, NotSent)
    assert not failure.offline


@pytest.mark.parametrize(
    "words",
    [
        "timed out waiting for message send response",
        "websocket disconnected before message send returned response",
        "failed to send message node: write: broken pipe",
        "context deadline exceeded",
        "something that a later release says",
        "",
    ],
)
def test_all_else_is_not_known(words):
    """It is better to ask the user to look than to send twice."""
    assert isinstance(failure_of(words), OutcomeUnknown)


def test_an_image_that_was_not_uploaded_was_not_sent():
    assert not upload_failure_of("upload failed with status code 401").offline
    assert upload_failure_of("websocket not connected").offline
