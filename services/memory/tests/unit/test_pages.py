"""Long answers in pages that need no stored state."""

from onechat_memory.domain.pages import Page, page


def test_what_fits_is_one_page():
    assert page([(0, 40), (1, 60)], most=100) == Page(count=2, next_id=None)
    assert page([], most=100) == Page(count=0, next_id=None)


def test_a_page_names_the_item_that_the_next_begins_with():
    assert page([(5, 40), (6, 60), (7, 1)], most=100) == Page(count=2, next_id=7)


def test_one_item_is_always_whole_on_one_page():
    assert page([(5, 400), (6, 1)], most=100) == Page(count=1, next_id=6)


def test_only_what_is_needed_is_read():
    """A log may hold a million messages behind the page."""
    items = iter([(0, 60), (1, 60), (2, 60)])

    page(items, most=100)

    assert next(items) == (2, 60)
