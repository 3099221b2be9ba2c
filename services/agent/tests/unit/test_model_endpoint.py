"""Which server answers, and what it is taken to lack."""

import pytest
from onechat_agent.model.endpoint import OTHERS_LACK, Endpoint, Lack, base_url, lacks
from onechat_runtime.settings import Secret

KEY = Secret("sk-test")


@pytest.mark.parametrize(
    "url",
    [None, "", "https://api.openai.com/v1", "https://api.openai.com/v1/", "https://eu.api.openai.com/v1"],
)
def test_openais_own_address_lacks_nothing(url):
    endpoint = Endpoint.of(url=url, api_key=KEY)

    assert endpoint.is_openai
    assert endpoint.lacks == frozenset()


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8080/v1",
        "https://api.openai.com.example.org/v1",
        "https://myapi.openai.community/v1",
    ],
)
def test_any_other_address_lacks_the_first_three(url):
    endpoint = Endpoint.of(url=url, api_key=None)

    assert not endpoint.is_openai
    assert endpoint.lacks == OTHERS_LACK == {Lack.ENCRYPTED_REASONING, Lack.TOOL_IMAGES, Lack.CACHE_OPTIONS}


def test_what_is_said_to_be_lacking_counts_more_than_the_address():
    theirs = Endpoint.of(url="http://127.0.0.1:8080/v1", api_key=None, lacking=lacks("none"))
    ours = Endpoint.of(url=None, api_key=KEY, lacking=lacks("cache_options"))

    assert theirs.lacks == frozenset()
    assert ours.lacks == {Lack.CACHE_OPTIONS}


def test_openai_gets_the_cache_key_even_without_the_cache_options():
    """Its older models know the key and not the options; without the key their cache is hit by luck."""
    older = Endpoint.of(url=None, api_key=KEY, lacking=frozenset({Lack.CACHE_OPTIONS}))
    other = Endpoint.of(url="http://127.0.0.1:8080/v1", api_key=None)

    assert older.takes_cache_key
    assert not other.takes_cache_key


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("none", frozenset()),
        ("strict", {Lack.STRICT}),
        (" Strict , parallel_calls,", {Lack.STRICT, Lack.PARALLEL_CALLS}),
        ("encrypted_reasoning;tool_images", {Lack.ENCRYPTED_REASONING, Lack.TOOL_IMAGES}),
    ],
)
def test_switches_are_read_from_one_line(text, found):
    assert lacks(text) == found


@pytest.mark.parametrize("text", ["", " , ", "images", "none,strict", "strict parallel_calls"])
def test_a_switch_that_does_not_exist_is_answered_with_those_that_do(text):
    with pytest.raises(
        ValueError, match=r"none, or some of encrypted_reasoning, tool_images, .*parallel_calls"
    ):
        lacks(text)


@pytest.mark.parametrize(
    "text",
    ["", "localhost:8080", "ftp://x/v1", "http://", "http://[::1/v1", "http://h:port/v1", "http://a b/v1"],
)
def test_an_address_that_is_none_is_answered_with_an_example(text):
    with pytest.raises(ValueError, match=r"http://127\.0\.0\.1:8080/v1"):
        base_url(text)


@pytest.mark.parametrize("key", ["sk-1 2", "sk-1\n", "sk-\x7f", "ключ"])
def test_a_key_that_no_header_can_carry_is_refused_without_being_shown(key):
    """The network library would raise an error that quotes the header."""
    with pytest.raises(ValueError, match="OPENAI_API_KEY") as refused:
        Endpoint.of(url=None, api_key=Secret(key))

    assert key.strip() not in str(refused.value)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/v1", "http://localhost/v1", "http://[::1]:8080/v1"])
def test_this_machine_is_known_as_such(url):
    assert Endpoint.of(url=url, api_key=None).is_loopback
    assert not Endpoint.of(url=None, api_key=KEY).is_loopback


def test_an_endpoint_does_not_show_its_key():
    assert "sk-test" not in repr(Endpoint.of(url=None, api_key=KEY))
