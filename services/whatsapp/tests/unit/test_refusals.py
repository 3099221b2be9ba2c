"""What people and agents read of a send that failed: sentences of ours, whatever the library says."""

import pytest
from onechat_whatsapp.domain.refusals import why_not_sent


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("server returned error 479", "WhatsApp refused it with error 479."),
        (
            "no LID found for 15550002222@s.whatsapp.net from server",
            "WhatsApp knows no account with this number.",
        ),
        (
            "failed to get device list: failed to send usync query: info query timed out",
            "WhatsApp did not say which devices the message has to go to.",
        ),
        ("failed to get group members: 403", "WhatsApp did not say who is in the group."),
        ("the image could not be uploaded in time", "The image could not be uploaded."),
        ("upload failed with status code 401", "The image could not be uploaded."),
        ("failed to encrypt message for 15550002222:7", "The message could not be encrypted."),
        (
            "can't send message to unknown server hosted",
            "WhatsApp takes no messages for a chat of this kind.",
        ),
        ("no id of a person or group", "WhatsApp takes no messages for a chat of this kind."),
        ("what a later release says", "WhatsApp did not take it."),
        ("", "WhatsApp did not take it."),
    ],
)
def test_the_reason_is_a_sentence(words, sentence):
    assert why_not_sent(words) == sentence


@pytest.mark.parametrize(
    "words",
    [
        "no LID found for {} from server",
        "server returned error {}",
        "failed to get device list of {}",
        "{}",
    ],
)
@pytest.mark.parametrize("number", ["15550001111", "15550001111@s.whatsapp.net", "99887766554433@lid"])
def test_no_number_and_no_id_of_the_librarys_words_is_passed_on(words, number):
    said = why_not_sent(words.format(number))

    assert not any(sign.isdigit() or sign == "@" for sign in said)
