"""What each change makes of the link, and what the user is told of it."""

from datetime import UTC, datetime, timedelta

import pytest
from onechat_whatsapp.domain import link as links
from onechat_whatsapp.domain.link import ENDED, SENTENCES, LinkNow, LinkState
from onechat_whatsapp.domain.notices import told_by

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
NEW = LinkNow(state=LinkState.NOT_LINKED, since=NOW)
LINKED = links.linked(NEW, NOW)
CONNECTED = links.connected(LINKED, NOW)
OUT = sorted(ENDED - {LinkState.LOGGED_OUT})


def test_attempts_are_2_seconds_apart_at_first_and_5_minutes_at_most():
    delays = [links.delay_after(failures) for failures in (1, 2, 3, 7, 8, 9, 5_000)]

    assert delays == [2, 4, 8, 128, 256, 300, 300]


def test_a_new_store_without_a_session_is_not_linked():
    assert links.found(None, NOW, session=False) == NEW


def test_a_session_that_nothing_is_kept_of_is_a_link():
    """The process was killed between WhatsApp's word and ours, or a backup of the session was put back."""
    found = links.found(None, NOW, session=True)

    assert (found.state, found.usable, found.linked_since) == (LinkState.DISCONNECTED, True, NOW)


def test_a_session_that_is_gone_is_no_link():
    found = links.found(CONNECTED, LATER, session=False)

    assert (found.state, found.linked, found.last_connect) == (LinkState.NOT_LINKED, False, NOW)


def test_a_start_counts_its_own_ten_minutes():
    """How long nothing ran is no outage: a notice of it would come at every start."""
    stopped = links.lost(CONNECTED, NOW)

    found = links.found(stopped, LATER, session=True)

    assert links.due_in_s(found, LATER, 0.0) == 600
    assert found.last_disconnect == NOW


@pytest.mark.parametrize("state", OUT)
def test_what_whatsapp_has_ended_is_tried_once_at_a_start_and_said_no_second_time(state):
    ended = links.ended(CONNECTED, state, NOW)

    found = links.found(ended, LATER, session=True)
    again = links.ended(found, state, LATER)

    assert (ended.usable, found.usable, again.usable) == (False, True, False)
    assert (ended.since, again.since) == (NOW, NOW)
    assert [len(told_by(*change, UTC)) for change in ((CONNECTED, ended), (found, again))] == [1, 0]


@pytest.mark.parametrize("state", sorted(ENDED))
def test_what_ends_a_link_ends_its_connection(state):
    ended = links.ended(CONNECTED, state, LATER)
    again = links.ended(links.lost(CONNECTED, NOW), state, LATER)

    assert (ended.last_connect, ended.last_disconnect) == (NOW, LATER)
    assert again.last_disconnect == NOW


def test_a_new_link_keeps_the_times_of_the_last_one():
    ended = links.gone(CONNECTED, LATER)

    anew = links.linked(ended, LATER + timedelta(hours=1))

    assert (anew.last_connect, anew.last_disconnect) == (NOW, LATER)


@pytest.mark.parametrize("state", OUT)
def test_the_user_hears_that_a_connection_is_back_that_whatsapp_had_ended(state):
    found = links.found(links.ended(CONNECTED, state, NOW), LATER, session=True)

    [notice] = told_by(found, links.connected(found, LATER), UTC)

    assert notice.text == "WhatsApp is connected again."


def test_a_ban_is_over_when_whatsapp_said_and_not_before():
    banned = links.ended(CONNECTED, LinkState.BANNED, NOW, 7200)

    meanwhile = links.found(banned, LATER, session=True)
    over = links.passed(meanwhile, NOW + timedelta(hours=2), 0.0)

    assert (meanwhile.usable, over.usable) == (False, True)
    assert (banned.ban_end, over.ban_end) == (NOW + timedelta(hours=2), None)


def test_a_ban_before_the_clock_was_set_back_is_tried_at_a_start():
    """Else a clock that was years ahead for a moment would shut the account out for years."""
    banned = links.ended(CONNECTED, LinkState.BANNED, LATER, 7200)

    assert links.found(banned, NOW, session=True).usable


def test_a_ban_of_a_second_is_no_storm():
    banned = links.ended(CONNECTED, LinkState.BANNED, NOW, 1)

    assert banned.ban_end == NOW + timedelta(minutes=10)


def test_a_ban_without_an_end_is_not_tried_again():
    banned = links.ended(CONNECTED, LinkState.BANNED, NOW, 0)

    assert links.due_in_s(banned, LATER, 9e9) is None


def test_the_notice_of_a_ban_says_until_when():
    [notice] = told_by(CONNECTED, links.ended(CONNECTED, LinkState.BANNED, NOW, 7200), UTC)

    assert "2026-03-01 14:00" in notice.text


@pytest.mark.parametrize("state", sorted(ENDED))
def test_nothing_ends_a_link_that_is_not_there(state):
    """What came before an unlinking may be heard after it."""
    assert links.ended(NEW, state, LATER) == NEW
    assert links.connected(NEW, LATER) == NEW


def test_a_break_of_less_than_ten_minutes_is_told_by_nothing():
    lost = links.lost(CONNECTED, NOW)
    early = links.passed(lost, LATER, 599.0)
    back = links.connected(early, NOW + timedelta(minutes=10))

    assert told_by(CONNECTED, lost, UTC) + told_by(lost, early, UTC) + told_by(early, back, UTC) == []


def test_a_break_of_ten_minutes_is_told_once_and_so_is_its_end():
    lost = links.lost(CONNECTED, NOW)
    due = links.passed(lost, NOW, 600.0)
    more = links.passed(links.lost(due, LATER), LATER, 9e9)
    back = links.connected(more, LATER)
    told = [told_by(*change, UTC) for change in ((lost, due), (due, more), (more, back))]

    assert [[notice.text[:35] for notice in each] for each in told] == [
        ["WhatsApp has been disconnected sinc"],
        [],
        ["WhatsApp is connected again."],
    ]


def test_each_state_but_the_good_one_has_a_sentence():
    assert set(LinkState) - set(SENTENCES) == {LinkState.CONNECTED}
