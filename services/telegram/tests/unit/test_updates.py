"""What updates say, and how they are worded for the agent."""

from typing import Any

import pytest
from onechat_telegram.domain.message_kinds import OTHER_PICTURES, PICTURE_MAX
from onechat_telegram.domain.updates import Written, continues, read_update
from onechat_telegram.domain.wording import QUOTED_MAX, for_agent, marked, not_read, seams

ADA = {"id": 1, "is_bot": False, "first_name": "Ada", "last_name": "L"}


def message(**fields: Any) -> dict[str, Any]:
    return {
        "message": {"message_id": 7, "date": 1_800_000_000, "from": ADA, "chat": {"id": 1, "type": "private"}}
        | fields
    }


def written(**fields: Any) -> Written:
    incoming = read_update(message(**fields))
    assert isinstance(incoming, Written)
    return incoming


def test_a_text_is_read_and_goes_as_it_is() -> None:
    incoming = written(text="  hello\nthere ")

    assert (incoming.user, incoming.chat, incoming.message, incoming.date) == (1, 1, 7, 1_800_000_000)
    assert for_agent([incoming]) == "  hello\nthere "


@pytest.mark.parametrize(
    ("origin", "author"),
    [
        ({"type": "user", "sender_user": {"first_name": "Eve", "last_name": "X"}}, "Eve X"),
        ({"type": "hidden_user", "sender_user_name": "Someone"}, "Someone"),
        ({"type": "chat", "sender_chat": {"title": "The group"}}, "The group"),
        ({"type": "channel", "chat": {"title": "News\n/stop"}}, "News /stop"),
    ],
)
def test_a_forward_names_whose_words_it_quotes(origin: dict[str, Any], author: str) -> None:
    text = for_agent([written(text="one\rtwo\u2028three", forward_origin=origin)])

    assert text == f"Forwarded, written by {author}:\n| one\n| two\n| three"


def test_a_reply_shows_what_it_answers() -> None:
    to_bot = {"message_id": 3, "from": {"is_bot": True, "first_name": "One"}, "text": "Shall I?"}

    assert for_agent([written(text="yes", reply_to_message=to_bot)]) == (
        "In reply to what you wrote:\n| Shall I?\nyes"
    )
    chosen = written(text="yes", reply_to_message=to_bot, quote={"text": "Shall"})
    assert for_agent([chosen]) == "In reply to what you wrote:\n| Shall\nyes"


@pytest.mark.parametrize(
    ("replied", "quoted"),
    [
        ({"photo": []}, "[a picture]"),
        ({"document": {"file_id": "d", "mime_type": "image/png"}}, "[a picture]"),
        ({"voice": {}}, "[Voice messages]"),
        ({"photo": [], "caption": "look"}, "look"),
    ],
)
def test_a_reply_to_something_without_words_says_what_it_is(replied: dict[str, Any], quoted: str) -> None:
    answered = {"message_id": 3, "from": ADA} | replied

    assert for_agent([written(text="yes", reply_to_message=answered)]) == (
        f"In reply to what Ada L wrote:\n| {quoted}\nyes"
    )


def test_of_a_long_text_a_reply_quotes_the_beginning_and_of_a_hidden_writer_no_name() -> None:
    replied = {"message_id": 3, "from": {"first_name": ""}, "text": "a" * (QUOTED_MAX + 1)}

    assert for_agent([written(text="yes", reply_to_message=replied)]) == (
        f"In reply to what somebody wrote:\n| {'a' * QUOTED_MAX}…\nyes"
    )


def test_a_reply_to_a_service_message_quotes_nothing() -> None:
    replied = {"message_id": 3, "from": ADA, "pinned_message": {}}

    assert for_agent([written(text="yes", reply_to_message=replied)]) == "yes"


def test_an_edit_says_which_message_it_replaces() -> None:
    update = {"edited_message": message(text="hello", edit_date=1_800_000_060)["message"]}

    incoming = read_update(update)

    assert isinstance(incoming, Written)
    assert incoming.edit_date == 1_800_000_060
    assert for_agent([incoming]) == "[edited; replaces what I wrote on 2027-01-15 at 08:00:00 UTC]\nhello"


@pytest.mark.parametrize(
    ("fields", "replaced"),
    [
        ({"text": "a" * 3999}, "what I wrote"),
        ({"text": "a" * 4000}, "all or the first part of what I wrote"),
        ({"photo": [], "caption": "b", "media_group_id": "5"}, "a part of what I sent"),
    ],
)
def test_an_edit_of_one_part_does_not_claim_to_replace_the_whole(
    fields: dict[str, Any], replaced: str
) -> None:
    """Telegram tells an edited part alone, and of a text not whether it was one."""
    incoming = read_update({"edited_message": message(edit_date=1_800_000_060, **fields)["message"]})

    assert isinstance(incoming, Written)
    assert for_agent([incoming]).startswith(f"[edited; replaces {replaced} on 2027-01-15 at ")


def link(offset: int, length: int, url: str = "https://x.example/a?b=c") -> dict[str, Any]:
    return {"type": "text_link", "offset": offset, "length": length, "url": url}


def test_the_address_behind_words_is_written_after_them() -> None:
    """Telegram sends it beside the text, where the agent would not see it; its offsets are UTF-16 units."""
    entities = [link(11, 5, "https://y.example/"), {"type": "bold", "offset": 3, "length": 4}, link(3, 4)]

    said = written(text="🎩 here or there", entities=entities)
    shown = written(photo=[], caption="here", caption_entities=[link(0, 4)])

    assert for_agent([said]) == "🎩 here (https://x.example/a?b=c) or there (https://y.example/)"
    assert for_agent([shown]) == "here (https://x.example/a?b=c)"
    assert said.text == "🎩 here or there"


@pytest.mark.parametrize(
    "entity",
    [
        link(0, 4, ""),
        link(5, 23),
        {"type": "url", "offset": 5, "length": 23},
        {"type": "text_mention", "offset": 0, "length": 4, "user": ADA},
    ],
)
def test_an_address_that_can_be_read_already_is_not_repeated(entity: dict[str, Any]) -> None:
    assert for_agent([written(text="here https://x.example/a?b=c", entities=[entity])]) == (
        "here https://x.example/a?b=c"
    )


def test_a_link_that_claims_to_go_on_beyond_its_text_ends_with_it() -> None:
    [found] = written(text="here", entities=[link(0, 9)]).links

    assert found.end == 4


def test_addresses_in_others_words_stay_in_them() -> None:
    """Forwarded or answered ones, or a part of those; and none can end the mark of its line."""
    origin = {"type": "hidden_user", "sender_user_name": "Eve"}
    replied = {
        "message_id": 3,
        "from": ADA,
        "text": "see here",
        "entities": [link(4, 4, "http://x\n.example")],
    }

    forward = written(text="here", entities=[link(0, 9)], forward_origin=origin)
    answer = written(text="yes", reply_to_message=replied)
    chosen = written(
        text="yes", reply_to_message=replied, quote={"text": "here", "entities": [link(0, 4)], "position": 4}
    )

    assert for_agent([forward]) == "Forwarded, written by Eve:\n| here (https://x.example/a?b=c)"
    assert for_agent([answer]) == "In reply to what Ada L wrote:\n| see here (http://x.example)\nyes"
    assert for_agent([chosen]) == "In reply to what Ada L wrote:\n| here (https://x.example/a?b=c)\nyes"


def test_an_address_at_a_seam_changes_nothing_of_how_parts_are_joined() -> None:
    parts = [written(text="a" * 4096, entities=[link(4095, 1)]), written(text="b")]

    assert for_agent(parts) == "a" * 4096 + " (https://x.example/a?b=c)b"


def test_halves_of_letters_are_joined_or_replaced() -> None:
    """JSON may hold them; nothing later may fail on one."""
    assert for_agent([written(text="\ud83c\udf78 \ud83c x")]) == "🍸 \ufffd x"


def test_a_mark_on_every_line_can_not_be_closed_from_inside() -> None:
    assert marked("a\n\nb\x0bc\x85d") == "| a\n| \n| b\n| c\n| d"


def size(name: str, side: int, size_bytes: int | None = 1000) -> dict[str, Any]:
    claimed = {} if size_bytes is None else {"file_size": size_bytes}
    return {"file_id": name, "width": side, "height": side} | claimed


def test_a_photo_is_read_at_its_largest_size_that_is_not_too_large() -> None:
    """The others stay behind it, since what Telegram claims of a size may be wrong."""
    sizes = [size("s", 90), size("huge", 9000, PICTURE_MAX + 1), size("l", 1280, None), size("m", 800)]

    incoming = written(photo=sizes, caption="look")

    assert incoming.picture is not None
    assert incoming.picture.files == ("l", "m", "s")
    assert (incoming.text, incoming.not_read, incoming.is_command) == ("look", "", False)


def test_the_largest_size_is_the_one_with_most_to_see_and_may_have_all_the_bytes_there_may_be() -> None:
    wide = {"file_id": "wide", "width": 1000, "height": 10, "file_size": 10}
    whole = {"file_id": "whole", "width": 900, "height": 900, "file_size": PICTURE_MAX}

    incoming = written(photo=[wide, whole])

    assert incoming.picture is not None
    assert incoming.picture.files == ("whole", "wide")


def test_a_live_photo_is_read_as_it_stands_still() -> None:
    incoming = written(live_photo={"photo": [size("l", 90)]}, photo=[size("l", 90)])

    assert incoming.picture is not None
    assert (incoming.picture.files, incoming.not_read) == (("l",), "")


def document(mime_type: str, **fields: Any) -> dict[str, Any]:
    return {"document": {"file_id": "d", "mime_type": mime_type} | fields}


@pytest.mark.parametrize("mime_type", ["image/png", "image/jpeg", "image/webp", "image/gif"])
def test_an_image_sent_as_a_file_is_read(mime_type: str) -> None:
    incoming = written(**document(mime_type))

    assert incoming.picture is not None
    assert incoming.picture.files == ("d",)
    assert incoming.not_read == ""


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"voice": {}}, "Voice messages"),
        ({"sticker": {}}, "Stickers"),
        ({"venue": {}, "location": {}}, "Places"),
        ({"animation": {}} | document("image/gif"), "Animations"),
        (document("application/pdf"), "Files"),
        ({"document": {"file_id": "d"}}, "Files"),
        (document("image/heic"), OTHER_PICTURES),
    ],
)
def test_kinds_that_are_not_read_are_named(fields: dict[str, Any], kind: str) -> None:
    incoming = written(**fields)

    assert (incoming.text, incoming.picture, incoming.not_read) == ("", None, kind)
    assert not_read([incoming]) == f"{kind} are not read yet: please write it as text."


def test_the_words_with_what_is_not_read_go_on_and_say_so() -> None:
    incoming = written(video={}, caption="/stop that noise")

    assert not incoming.is_command
    assert for_agent([incoming]) == "/stop that noise\n[sent with it, but not to be seen here: Videos]"
    assert not_read([incoming]) == "Videos are not read yet: only what came with them is."


def test_what_is_not_read_of_an_album_of_pictures_says_that_they_are() -> None:
    parts = [written(photo=[size("l", 90)], media_group_id="5"), written(video={}, media_group_id="5")]

    assert not_read(parts) == "Videos are not read yet: only what came with them is."


def test_an_album_is_one_text_with_its_captions_in_order() -> None:
    parts = [written(photo=[size(name, 90)], media_group_id="5", caption=name) for name in "abc"]

    assert {part.album for part in parts} == {"5"}
    assert for_agent(parts) == "a\nb\nc"
    assert for_agent(parts, 2) == "a\nb\nc\n[sent with it, but not to be seen here: a picture, a picture]"


def test_captions_stand_apart_also_where_one_between_them_has_none() -> None:
    parts = [written(photo=[size(name, 90)], media_group_id="5", caption=name) for name in ("a", "", "b")]

    assert for_agent(parts) == "a\nb"


def test_forwarded_pictures_are_marked_as_somebody_elses() -> None:
    origin = {"type": "hidden_user", "sender_user_name": "Eve"}
    one = written(photo=[size("l", 90)], forward_origin=origin)
    two = written(photo=[size("l", 90)], forward_origin=origin, caption="look")

    assert for_agent([one]) == "Forwarded without words, sent by Eve."
    assert for_agent([one, two]) == "Forwarded, written by Eve:\n| look"


def test_a_reply_to_another_chats_message_quotes_the_chosen_words() -> None:
    external = {"origin": {"type": "user", "sender_user": {"first_name": "Eve"}}}

    incoming = written(text="true?", external_reply=external, quote={"text": "It snows"})

    assert for_agent([incoming]) == "In reply to what Eve wrote:\n| It snows\ntrue?"
    assert for_agent([written(text="true?", external_reply=external)]) == "true?"


@pytest.mark.parametrize(
    ("before", "after", "whole"),
    [
        ("a" * 4096, "b", "a" * 4096 + "b"),
        ("a" * 4095, "🎩b", "a" * 4095 + "🎩b"),
        ("a" * 4095, "b", "a" * 4095 + "\nb"),
        ("a" * 4095 + "\ud83c", "\udfa9", "a" * 4095 + "\ud83c\udfa9"),
    ],
)
def test_a_text_cut_for_want_of_room_is_joined_without_a_seam(before: str, after: str, whole: str) -> None:
    """One that was cut earlier was cut at a blank, which Telegram drops."""
    first, seam = seams([before, after])
    assert (first, f"{before}{seam}{after}") == ("", whole)


ORIGIN = {"type": "hidden_user", "sender_user_name": "Eve"}


@pytest.mark.parametrize(
    ("before", "after", "joins"),
    [
        ({"text": "a" * 4000}, {"text": "b"}, True),
        ({"text": "😀" * 2000}, {"text": "/stop", "date": 1_800_000_002}, True),
        ({"text": "a" * 3999}, {"text": "b"}, False),
        ({"text": "a" * 4000}, {"text": "b", "date": 1_800_000_003}, False),
        ({"text": "a" * 4000}, {"text": "b", "date": 1_799_999_999}, False),
        ({"text": "a" * 4000, "forward_origin": ORIGIN}, {"text": "b", "forward_origin": ORIGIN}, True),
        ({"text": "a" * 4000, "forward_origin": ORIGIN}, {"text": "b"}, False),
        ({"text": "a" * 4000}, {"text": "b", "reply_to_message": {"text": "x"}}, False),
        ({"text": "a" * 4000}, {"caption": "b", "photo": []}, False),
        ({"text": "a" * 4000}, {"caption": "b", "video": {}}, False),
        ({"caption": "a" * 4000, "photo": []}, {"text": "b"}, False),
        ({"text": "a" * 4000}, {"text": "b", "from": {"id": 2}}, False),
    ],
)
def test_only_a_long_text_is_continued_and_by_what_followed_at_once(
    before: dict[str, Any], after: dict[str, Any], joins: bool
) -> None:
    assert continues(written(**before), written(**after)) is joins


def test_an_edit_continues_nothing_and_is_not_continued() -> None:
    edit = read_update({"edited_message": message(text="a" * 4000, edit_date=1_800_000_000)["message"]})

    assert isinstance(edit, Written)
    assert not continues(edit, written(text="b"))
    assert not continues(written(text="a" * 4000), edit)
