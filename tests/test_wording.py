"""The check that keeps phrases out of what users read."""

from pathlib import Path

import pytest

from tests.wording import PHRASES, findings

MODULE = """
def refuse(path: str) -> str:
    return f"{path} is no file"


def wait() -> str:
    return "there is no such file, and it is no longer waited for"
"""


def test_a_phrase_in_a_message_is_found_with_its_line(tmp_path: Path) -> None:
    source = tmp_path / "src" / "package"
    source.mkdir(parents=True)
    (source / "module.py").write_text(MODULE)
    assert findings(tmp_path) == ["src/package/module.py:3: 'is no file': is not a …"]


def test_a_phrase_in_a_comment_is_found_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("x = 1\n# Nobody waits.\n")
    assert [line.split(": ")[0] for line in findings(tmp_path)] == ["src/a.py:2"]


def test_a_phrase_across_two_literals_is_found(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    source = 'print(\n    f"the outcome {1} is "\n    "no file"\n)\n'
    (tmp_path / "src" / "a.py").write_text(source)
    assert [line.split(": ")[1] for line in findings(tmp_path)] == ["'is no file'"]


def test_code_blocks_of_a_page_are_not_prose(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# A\n\n```text\n1 files\n```\n\nNobody reads 1 lines.\n")
    assert [line.split(": ")[0:2] for line in findings(tmp_path)] == [
        ["README.md:7", "'1 lines'"],
        ["README.md:7", "'Nobody'"],
    ]


def test_a_line_can_be_exempted(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text('USER = "nobody"  # the Unix user; wording: ok\n')
    assert findings(tmp_path) == []


@pytest.mark.parametrize(
    "phrase",
    [
        *("the fate of it", "it asks for nothing", "not to be had", "Whoever asks"),
        *("a word that speaks of it", "the server is away", "git knows no such name"),
        *("they were no use", "Somebody asks", "it hears of it", "it names no file", "1 places"),
        *("none of our business", "whom to what", "Whomever it asks", "it was no use"),
    ],
)
def test_every_phrase_is_looked_for(phrase: str, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(phrase + "\n")
    assert len(findings(tmp_path)) == 1
    assert len(PHRASES) >= 8
