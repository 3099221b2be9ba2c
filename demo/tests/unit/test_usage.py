"""How tokens are counted."""

from collections.abc import Callable
from typing import Any

from onechat_demo.answers import Answer, call
from onechat_demo.usage import PrefixCache, common_prefix, serialized, tokens, usage_of

Turn = Callable[..., dict[str, Any]]


def test_four_bytes_are_a_token_rounded_up() -> None:
    assert [tokens(text) for text in ("", "a", "abcd", "äää")] == [0, 1, 1, 2]


def test_a_longer_request_reads_the_earlier_one_from_the_cache(turn: Turn) -> None:
    cache = PrefixCache()
    first = usage_of(turn("hello"), Answer(), cache)

    second = usage_of(turn("hello", "more"), Answer(), cache)

    assert first.cached == 0
    assert second.cached >= first.input - 2
    assert second.cached < second.input


def test_a_changed_head_shares_nothing_behind_it(turn: Turn) -> None:
    cache = PrefixCache()
    first = usage_of(turn("hello", instructions="You are One."), Answer(), cache)

    second = usage_of(turn("hello", instructions="You are Two."), Answer(), cache)

    assert second.cached < first.input - tokens(turn("")["input"][0]["content"])


def test_cache_keys_keep_agents_apart(turn: Turn) -> None:
    cache = PrefixCache()
    usage_of(turn("hello", prompt_cache_key="one"), Answer(), cache)

    other = usage_of(turn("hello", prompt_cache_key="two"), Answer(), cache)
    anybody = usage_of(turn("hello"), Answer(), cache)

    assert other.cached == 0
    assert anybody.cached > 0


def test_the_output_counts_words_calls_and_thoughts(turn: Turn) -> None:
    usage = usage_of(
        turn("x"), Answer(text="four", calls=(call("ab", c="d"),), reasoning="12345678"), PrefixCache()
    )

    assert usage.reasoning == 2
    assert usage.output == 1 + tokens('ab{"c": "d"}') + 2


def test_a_picture_counts_the_same_whatever_its_size(turn: Turn) -> None:
    small, large = (
        {
            "role": "user",
            "content": [{"type": "input_image", "image_url": "data:image/png;base64," + "A" * size}],
        }
        for size in (4, 4_000_000)
    )

    assert len(serialized(turn(small))) == len(serialized(turn(large)))


def test_what_is_kept_stays_within_its_bound() -> None:
    cache = PrefixCache(kept_bytes_max=1_000)
    for index in range(50):
        cache.cached_bytes("k", bytes([index]) * 300)

    assert cache.cached_bytes("k", bytes([0]) * 300) == 0
    assert cache.cached_bytes("k", bytes([49]) * 300) == 300


def test_the_common_prefix_is_exact() -> None:
    for length in range(0, 70):
        one = b"x" * length + b"a" + b"y" * 40
        other = b"x" * length + b"b" + b"y" * 40
        assert common_prefix(one, other) == length
    assert common_prefix(b"abc", b"abcdef") == 3
