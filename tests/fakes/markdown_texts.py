"""Random Markdown as models write it, well formed and not, and the texts that other gateways failed on.

Each word has a number of its own, so that it can be looked for: `shown` are those that a reader must see,
which are all but the addresses of links and the names of fences.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Final

_BASES: Final = ("fox", "naïve", "данные", "漢字", "ÜBER", "x", "Wort", "e\u0301t", "and")
_SIGNS: Final = (
    "😀",
    "👩\u200d👩\u200d👧",
    "🎩",
    "—",
    "*",
    "**",
    "`",
    "||",
    "_",
    "\\",
    "<",
    "&",
    "$",
    "|",
    "[",
    "](",
)
_LANGUAGES: Final = ("", "python", "c++", "json", "no such language")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A text and the words that a reader must see of it."""

    text: str
    shown: frozenset[str]


def random_markdown(rng: random.Random, *, blocks_max: int) -> Sample:
    """A text of up to so many blocks; some of them are longer than a message."""
    writer = _Writer(rng)
    text = "\n\n".join(writer.block() for _ in range(rng.randint(1, blocks_max)))
    return Sample(text=text, shown=frozenset(writer.shown))


class _Writer:
    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._numbers = count(1)
        self.shown: list[str] = []

    def block(self) -> str:
        """Any block, plain paragraphs more often than others."""
        kinds: dict[Callable[[], str], int] = {
            self._paragraph: 6,
            self._heading: 2,
            self._list: 2,
            self._numbered: 2,
            self._quote: 1,
            self._fence: 2,
            self._table: 2,
            self._long: 1,
            self._odd: 2,
        }
        return self._rng.choices(list(kinds), list(kinds.values()))[0]()

    def _word(self) -> str:
        word = f"{self._rng.choice(_BASES)}{next(self._numbers)}z"
        self.shown.append(word)
        return word

    def _words(self, least: int, most: int) -> str:
        return " ".join(self._word() for _ in range(self._rng.randint(least, most)))

    def _address(self) -> str:
        return f"https://a.example/{self._rng.randrange(99)}_x_y(z)?q={self._rng.randrange(9)}&b=*"

    def _span(self, depth: int = 0) -> str:
        def inner() -> str:
            return self._span(depth + 1) if depth < 2 else self._words(1, 4)

        kinds: dict[Callable[[], str], int] = {
            lambda: self._words(1, 8): 9,
            lambda: f"**{inner()}**": 2,
            lambda: f"*{inner()}*": 1,
            lambda: f"_{inner()}_": 1,
            lambda: f"~~{self._words(1, 5)}~~": 1,
            lambda: f"||{self._words(1, 4)}||": 1,
            lambda: f"`{self._words(1, 4)}`": 2,
            lambda: f"[{self._words(1, 4)}]({self._address()})": 2,
            lambda: f"![{self._words(1, 2)}](http://x.example/a_b.png)": 1,
            lambda: f"[{self._words(1, 2)}](./{self._word()}.md)": 1,
            lambda: f"<b>{self._words(1, 3)}</b>": 1,
            lambda: f"List<{self._word()}>": 1,
            lambda: f"${self._word()}/${self._word()}": 1,
            lambda: f"snake_{self._word()}_case": 1,
            lambda: f"https://b.example/{self._word()}_y_z": 1,
            lambda: f"https://b.example/_{self._word()}_/*{self._word()}*/~~{self._word()}~~?x=_y": 1,
            lambda: f"{self._word()} {self._rng.choice(_SIGNS)} {self._word()}": 2,
            lambda: f"{self._rng.choice(_SIGNS)}{self._word()}": 1,
        }
        return self._rng.choices(list(kinds), list(kinds.values()))[0]()

    def _line(self) -> str:
        return " ".join(self._span() for _ in range(self._rng.randint(1, 5)))

    def _paragraph(self) -> str:
        return "\n".join(self._line() for _ in range(self._rng.randint(1, 5)))

    def _heading(self) -> str:
        return f"{'#' * self._rng.randint(1, 4)} {self._span()}"

    def _list(self) -> str:
        return "\n".join(
            f"{'  ' * self._rng.randint(0, 2)}- {self._rng.choice(('', '', '[ ] ', '[x] '))}{self._line()}"
            for _ in range(self._rng.randint(1, 9))
        )

    def _numbered(self) -> str:
        first, step = self._rng.choice((1, 1, 3)), self._rng.choice((0, 1, 1, 2))
        return "\n".join(f"{first + n * step}. {self._line()}" for n in range(self._rng.randint(1, 30)))

    def _quote(self) -> str:
        return "> " + "\n> ".join(self._line() for _ in range(self._rng.randint(1, 6)))

    def _fence(self) -> str:
        mark, end = self._rng.choice((("```", "```"), ("~~~", "~~~"), ("````", "````"), ("```", "")))
        lines = [" " * self._rng.randint(0, 8) + self._words(1, 8) for _ in range(self._rng.randint(1, 80))]
        return "\n".join((mark + self._rng.choice(_LANGUAGES), *lines, end))

    def _table(self) -> str:
        columns = self._rng.randint(1, 4)

        def row() -> str:
            return "| " + " | ".join(self._words(1, 3) for _ in range(columns)) + " |"

        return "\n".join((row(), "|---" * columns + "|", *(row() for _ in range(self._rng.randint(1, 40)))))

    def _long(self) -> str:
        return self._rng.choice((lambda: self._words(400, 900), lambda: self._word() * 900, self._emoji))()

    def _emoji(self) -> str:
        return self._rng.choice(("😀", "👩\u200d👩\u200d👧", "!")) * self._rng.randint(1, 5000)

    def _odd(self) -> str:
        return self._rng.choice(
            (
                lambda: "---",
                lambda: f"    {self._words(1, 9)}\n    {self._words(1, 9)}",
                lambda: f"<div>\n{self._words(1, 5)}\n</div>",
                lambda: f"<!-- {self._words(1, 5)} -->",
                lambda: f"[{self._rng.randrange(9)}]: http://r.example/{self._word()}",
                lambda: f"$$\n{self._word()}^2\n$$",
                lambda: f"{self._words(1, 3)}\n===",
                lambda: f"**{self._words(1, 5)}",
                lambda: f"- {self._word()}\n\n      {self._word()}\n\n  {self._word()}",
                lambda: f"> ```py\n> {self._words(1, 5)}\n\n{self._words(1, 5)}",
                lambda: f"{self._word()}  \n\\{self._word()}\u200b\t{self._word()}",
            )
        )()


NASTY: Final = (  # with the words that a reader must see of each
    Sample(text="😀" * 2049, shown=frozenset()),
    Sample(text="😀" * 5000, shown=frozenset()),
    Sample(text="a" * 4095 + "🎩", shown=frozenset({"a" * 4095})),
    Sample(text="!" * 4096, shown=frozenset()),
    Sample(text="```rust\n" + "let x1z = 1;\n" * 385 + "```", shown=frozenset({"let"})),
    Sample(text="```\n" + "y" * 10_000 + "\n```", shown=frozenset()),
    Sample(text="![alt](http://x.example/a_b.png)", shown=frozenset({"alt"})),
    Sample(
        text="https://a.example/c_d_e_f **http://b.example/_g_/*k*** (http://c.example/h_(i)_j) *http://d.example*",
        shown=frozenset({"/c_d_e_f ", "/_g_/*k", "h_(i)_j)", " http://d.example"}),
    ),
    Sample(text="1. one\n" * 900, shown=frozenset({"900"})),
    Sample(text=f"[{'word ' * 2000}](http://a.example/b_c)", shown=frozenset({"word"})),
    Sample(text="**" + "bold " * 2000 + "**", shown=frozenset({"bold"})),
    Sample(text="> " + "quoted " * 2000, shown=frozenset({"quoted"})),
    Sample(text="| a | b |\n|---|---|\n" + "| cell | 😀😀 |\n" * 600, shown=frozenset({"cell"})),
    Sample(text="".join(f"**{n}b** `{n}c` " for n in range(600)), shown=frozenset({"599b", "599c"})),
    Sample(text="`" * 5000, shown=frozenset()),
    Sample(text="*" * 4097 + "x", shown=frozenset({"x"})),
    Sample(text="> " * 1000 + "deep", shown=frozenset({"deep"})),
    Sample(text="- " * 200 + "deeper", shown=frozenset({"deeper"})),
    Sample(text="[" * 30 + "x" + "](y)" * 30, shown=frozenset({"x"})),
    Sample(text="||" * 2500 + "hidden||", shown=frozenset({"hidden"})),
    Sample(text="\u200b" * 5000 + "seen", shown=frozenset({"seen"})),
    Sample(text="e" + "\u0301" * 9000, shown=frozenset()),
)
