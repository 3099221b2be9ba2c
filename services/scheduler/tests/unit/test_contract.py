"""How much one call gives of a list and of a preview."""

import pytest
from onechat_scheduler.adapters.contract import page_size, runs_wanted
from onechat_scheduler.errors import BadPage


@pytest.mark.parametrize(("asked", "given"), [(0, 100), (1, 1), (1_000, 1_000), (1_001, 1_000)])
def test_a_page_holds_a_hundred_or_as_many_as_are_asked_for_up_to_a_thousand(asked, given):
    assert page_size(asked) == given


def test_a_page_of_less_than_nothing_is_refused():
    with pytest.raises(BadPage):
        page_size(-1)


@pytest.mark.parametrize(("asked", "told"), [(-1, 3), (0, 3), (1, 1), (100, 100), (101, 100)])
def test_a_preview_tells_three_runs_or_as_many_as_are_asked_for_up_to_a_hundred(asked, told):
    assert runs_wanted(asked) == told
