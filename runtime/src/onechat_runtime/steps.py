"""Names of the places between two durable steps, told as they are passed; tests end the process at them."""

from collections.abc import Callable

Reached = Callable[[str], None]


def on_we_go(place: str) -> None:
    """What the product does at a place: nothing."""
