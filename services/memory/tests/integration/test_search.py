"""Finding messages by words: what is found, in which order and pages, and what is refused."""

import random
from typing import Any

import pytest
from grpc import StatusCode
from onechat_memory.adapters import contract_in
from onechat_memory.adapters.search import SearchStore
from onechat_memory.domain.words import folded
from onechat_memory.searching import PAGE_BYTES
from onechat_runtime.errors import RemoteError

from tests.fakes.memory_server import LOG, MemoryServer, new_message

LETTERS = ["casa", "Casà", "cane", "caso", "e", "x1", "OR", "12"]
SIGNS = "世界你好"


async def test_messages_that_hold_all_words_come_newest_first_and_whole(memory):
    await memory.append(new_message("a", "Der Größte war da", kind="MESSAGE_KIND_REPLY", turn="t1", step=2))
    await memory.append("the largest", "GROSSTE da", "da")

    answer = await memory.search("größte DA")

    assert [message.id for message in answer.messages] == [2, 0]
    assert answer.messages[1] == (await memory.messages(0, 1))[0]
    assert answer.next_page_token == ""


async def test_a_search_finds_what_was_appended_just_before(memory):
    """Nothing has filled the index yet: the search does."""
    await memory.append(*[f"number {number}" for number in range(200)])
    assert (await memory.stats()).searchable_messages == 0

    assert await memory.found("number", size=3) == [199, 198, 197]

    assert (await memory.stats()).searchable_messages == 200


async def test_pages_go_on_where_they_ended_while_new_messages_come(memory):
    await memory.append(*[f"word {number}" for number in range(45)])

    found, token = [], ""
    for _ in range(3):
        page = await memory.search("word", token=token)
        await memory.append("a new word")
        found.append([message.id for message in page.messages])
        token = page.next_page_token

    assert found == [[*range(44, 24, -1)], [*range(24, 4, -1)], [*range(4, -1, -1)]]
    assert token == ""


async def test_a_last_page_that_is_just_full_has_none_behind_it(memory):
    await memory.append(*["word"] * 4)

    first = await memory.search("word", size=2)
    second = await memory.search("word", size=2, token=first.next_page_token)

    assert ([m.id for m in first.messages], [m.id for m in second.messages]) == ([3, 2], [1, 0])
    assert second.next_page_token == ""


async def test_a_page_has_at_most_a_hundred_messages(memory):
    await memory.append(*["word"] * 150)

    assert len((await memory.search("word", size=5_000)).messages) == 100


async def test_a_page_of_very_long_messages_ends_early_and_goes_on(memory):
    """A hundred of the longest messages would be too large for one answer."""
    long = "字" * 29_000
    for number in range(14):
        await memory.append(f"{number} {long}")

    first = await memory.search("字", size=100)
    second = await memory.search("字", size=100, token=first.next_page_token)

    assert PAGE_BYTES < sum(len(message.text.encode()) for message in first.messages) < PAGE_BYTES + 120_000
    ids = [message.id for message in (*first.messages, *second.messages)]
    assert ids == list(range(13, -1, -1))


async def test_logs_with_the_same_words_do_not_show_in_each_other(memory):
    await memory.create("other", shape="LOG_SHAPE_FLAT")
    await memory.append("the same", "the same")
    await memory.append("nothing", "the same, and more", log="other")

    assert await memory.found("same") == [1, 0]
    assert await memory.found("sam*", log="other") == [1]
    assert await memory.found("more") == []


async def test_staged_logs_are_searched_and_keep_what_was_found_when_they_take_a_place(memory):
    await memory.create("staged", state="LOG_STATE_STAGED")
    await memory.append("an old word")
    await memory.append("nothing", "a new word", log="staged")
    assert await memory.found("word", log="staged") == [1]

    await memory.swap()

    assert await memory.found("word") == [1]
    assert await memory.found("word", log="kept") == [0]


@pytest.mark.parametrize(
    "words",
    [
        "AND",
        "word AND",
        "NOT word",
        "NEAR(word word, 2)",
        '"word',
        'word" OR "other',
        "words:word",
        "- word",
        "word + word",
        "^word",
        "{words} : word",
        "(word",
        "w'ord",
        "1_word",
        "word* *",
        "word\x00word",
    ],
)
async def test_nothing_that_is_asked_for_is_read_as_an_operator(memory, words):
    await memory.append("an other word", f"here: {words}")

    assert (await memory.found(words))[0] == 1


async def test_a_thousand_characters_are_searched_for(memory):
    words = " ".join(f"w{number}" for number in range(1_000))[:1_000].rstrip("w")
    signs = "".join(random.Random(1).choices(SIGNS, k=1_000))
    await memory.append(words, signs, signs[:-1])

    assert await memory.found(words) == [0]
    assert await memory.found(signs) == [1]


async def test_sixteen_beginnings_are_searched_for_at_once(memory):
    beginnings = [f"wor{letter}*" for letter in "abcdefghijklmnop"]
    await memory.append(" ".join(f"{one[:-1]}d" for one in beginnings), "word")

    assert await memory.found(" ".join(beginnings)) == [0]


@pytest.mark.parametrize(
    "words", ["", "  ", "*", '"-"', "x" * 1_001, " ".join(f"wor{letter}*" for letter in "abcdefghijklmnopq")]
)
async def test_a_search_without_words_or_with_too_many_is_refused(memory, words):
    await memory.append("word")

    with pytest.raises(RemoteError) as refused:
        await memory.search(words)

    assert (refused.value.code, refused.value.reason) == (StatusCode.INVALID_ARGUMENT, "WORDS_EMPTY")


@pytest.mark.parametrize(
    "page",
    [{"size": -1}, {"token": "x"}, {"token": "-1"}, {"token": "0"}, {"token": "2"}, {"token": "9" * 30}],
)
async def test_a_page_that_no_search_gave_is_refused(memory, page):
    await memory.append("word", "word")

    with pytest.raises(RemoteError) as refused:
        await memory.search("word", **page)

    assert (refused.value.code, refused.value.reason) == (StatusCode.INVALID_ARGUMENT, "BAD_PAGE")


async def test_an_empty_log_holds_nothing(memory):
    assert await memory.found("word") == []


@pytest.mark.parametrize("seed", range(4))
async def test_the_index_finds_what_a_plain_scan_finds(memory, seed):
    rng = random.Random(seed)
    texts = [_some_text(rng) for _ in range(250)]
    for start in range(0, len(texts), 50):
        await memory.append(*texts[start : start + 50])

    for _ in range(60):
        asked = _some_text(rng, longest=3)
        expected = [number for number, text in enumerate(texts) if _holds(text, asked)]
        assert await memory.found(asked, size=100) == expected[::-1][:100], asked


def _some_text(rng: random.Random, longest: int = 8) -> str:
    return " ".join(
        rng.choice(LETTERS) + rng.choice(["", "", "*"])
        if rng.random() < 0.5
        else "".join(rng.choices(SIGNS, k=rng.randint(1, 4)))
        for _ in range(rng.randint(1, longest))
    )


def _holds(text: str, asked: str) -> bool:
    """By looking at the words themselves: runs of signs anywhere in another one, the rest whole."""
    words = folded(text.replace("*", " ")).split()
    return all(
        any(
            part in word
            if part[0] in SIGNS
            else word.startswith(part.removesuffix("*"))
            if part.endswith("*")
            else word == part
            for word in words
        )
        for part in folded(asked).split()
    )


async def test_words_can_be_taken_out_again(memory):
    """A deleted log's go bit by bit."""
    await memory.append(*["word"] * 10)
    await memory.found("word")

    def take_out(db: Any) -> list[int]:
        index = SearchStore(db)
        index.remove(1, 2, 6)
        return index.find(1, contract_in.wanted_words("word"), 10, 100)

    assert await memory.store.write(take_out) == [9, 8, 7, 6, 1, 0]


async def test_an_operator_may_search(memory):
    await memory.append("word")

    assert await MemoryServer(memory.loopback, memory.store, "operator").found("word", log=LOG) == [0]
