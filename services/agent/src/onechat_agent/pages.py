"""Page sizes and tokens of lists. A token is the place of the next page; callers only give it back."""

from onechat_runtime.errors import BadPage


def size(wanted: int, *, usual: int, most: int) -> int:
    """How many items a page holds: `usual` when 0 is asked for. Raises BadPage."""
    if not 0 <= wanted <= most:
        raise BadPage(f"page_size is 0 to {most}.")
    return wanted or usual


def number(token: str) -> int | None:
    """The place that a token names; None for the first page. Raises BadPage."""
    if not token:
        return None
    if not (token.isascii() and token.isdecimal() and len(token) < 19):
        raise BadPage("That page_token is none that this call gave.")
    return int(token)
