"""The line with which the user sends a picture."""

import pytest
from onechat_cli.domain.picture_line import PictureLine, picture_line


@pytest.mark.parametrize(
    ("line", "path", "words"),
    [
        ("/image boiler.jpg", "boiler.jpg", ""),
        ("/image ~/boiler.jpg what is wrong with it?", "~/boiler.jpg", "what is wrong with it?"),
        ("/image 'my boiler.jpg' it's old", "my boiler.jpg", "it's old"),
        ('/image "my boiler.jpg"', "my boiler.jpg", ""),
        (r"/image my\ boiler.jpg # 2", "my boiler.jpg", "# 2"),
        ("/image  boiler.jpg\nwhat is\nwrong?", "boiler.jpg", "what is\nwrong?"),
        ("/image кот.png мой", "кот.png", "мой"),
        ("/image", "", ""),
        ("/image 'never closed", "", ""),
    ],
)
def test_a_line_names_a_file_and_has_words_after_it(line: str, path: str, words: str) -> None:
    found = picture_line(line)

    assert found is not None
    assert found.path == path
    if path:
        assert found == PictureLine(path=path, words=words)


@pytest.mark.parametrize("line", ["hello", "/images a.png", "/imagea", "look: /image a.png", "/stop", ""])
def test_any_other_line_is_none(line: str) -> None:
    assert picture_line(line) is None
