"""What a model is told when its edit failed: the text that is there, and what differs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.edits import explain
from holdfast.edits.explain import LINES_MAX

SHOP = """\
import math


def total(items):
    result = 0
    for item in items:
        result += item.price * item.count
    return result


def average(items):
    if not items:
        return 0
    return total(items) / len(items)
"""


def help_for(old: str, text: str = SHOP) -> str:
    return explain(text, old, "shop.py").to_text()


@pytest.mark.shows("EDIT-NEAREST")
def test_a_renamed_identifier_is_named_on_both_sides() -> None:
    assert help_for("    for item in items:\n        result += item.cost * item.count\n") == (
        "[holdfast: the old text is not in shop.py; nearest is lines 6-7]\n"
        "4\tdef total(items):\n"
        "5\t    result = 0\n"
        "6\t    for item in items:\n"
        "7\t        result += item.price * item.count\n"
        "8\t    return result\n"
        "9\t\n"
        "first difference: line 7 has `price`, the old text has `cost` in its line 2"
    )


BLANKS = {
    "deeper": (
        "def average(items):\n  if not items:\n    return 0\n",
        SHOP,
        "differs: the file indents with 4 spaces, the old text with 2 spaces (line 12)",
    ),
    "tabs": (
        "def average(items):\n\tif not items:\n",
        SHOP,
        "differs: the file indents with 4 spaces, the old text with 1 tab (line 12)",
    ),
    "crlf": (
        "    if not items:\n        return 0\n",
        SHOP.replace("\n", "\r\n"),
        r"differs: the file's lines end in \r\n, those of the old text in \n (line 12)",
    ),
    "lf": (
        "    if not items:\r\n        return 0\r\n",
        SHOP,
        r"differs: the file's lines end in \n, those of the old text in \r\n (line 12)",
    ),
    "trailing": (
        "    if not items:\n        return 0\n",
        SHOP.replace("items:\n        return 0", "items:  \n        return 0"),
        "differs: the file's line ends in blanks (line 12)",
    ),
    "spacing": (
        "    return total(items)/len(items)",
        SHOP,
        "differs: the spacing inside the line differs (line 14)",
    ),
    "blank line": (
        "import math\n\ndef total(items):\n",
        SHOP,
        "differs: blank lines are at other places (line 4)",
    ),
    "broken line": (
        "    for item in items: result += item.price * item.count",
        SHOP,
        "differs: the lines are broken at other places (line 6)",
    ),
}


@pytest.mark.shows("EDIT-BLANKS")
@pytest.mark.parametrize("case", BLANKS)
def test_a_difference_in_blanks_is_named(case: str) -> None:
    old, text, note = BLANKS[case]
    answer = help_for(old, text)
    assert "but for blanks]" in answer.split("\n")[0]
    assert answer.split("\n")[-1] == note


@pytest.mark.shows("EDIT-NEAREST")
def test_a_line_that_the_old_text_leaves_out_is_shown() -> None:
    answer = help_for("    result = 0\n        result += item.price * item.count\n")
    assert "6\t    for item in items:" in answer
    assert "first difference: line 6 has `for`, the old text has `result` in its line 2" in answer


@pytest.mark.shows("EDIT-NEAREST")
def test_characters_that_look_alike_are_named() -> None:
    answer = help_for("print('it\u2019s')\n", "print('it's')\n")
    assert "the old text has U+2019 right single quotation mark" in answer


@pytest.mark.shows("EDIT-SEVERAL")
def test_what_tells_several_places_apart_is_shown() -> None:
    text = "def one():\n    return 0\n\n\ndef two():\n    return 0\n"
    assert help_for("    return 0\n", text) == (
        "[holdfast: the old text occurs 2 times in shop.py; with 1 line before it, it is unique]\n"
        "1\tdef one():\n"
        "2\t    return 0\n"
        "…\n"
        "5\tdef two():\n"
        "6\t    return 0"
    )


@pytest.mark.shows("EDIT-SEVERAL")
def test_lines_after_the_places_are_shown_where_those_before_are_the_same() -> None:
    text = "a\n" * 20 + "x\nfirst\n" + "a\n" * 20 + "x\nsecond\n"
    answer = help_for("x\n", text)
    assert "with 1 line after it" in answer
    assert "22\tfirst" in answer
    assert "44\tsecond" in answer


@pytest.mark.shows("EDIT-SEVERAL")
def test_places_that_nothing_tells_apart_are_listed() -> None:
    answer = help_for("x\n", "x\n" * 100)
    assert answer.startswith("[holdfast: the old text occurs 100 times in shop.py")
    assert answer.count("\n") <= LINES_MAX


def test_a_text_that_is_there_by_now_may_be_sent_again() -> None:
    assert help_for("    result = 0\n") == (
        "[holdfast: the old text now occurs once in shop.py, line 5; "
        "the edit can be sent again as it is]"
    )


def test_nothing_similar_is_said_to_be_so() -> None:
    answer = help_for("class Wizard:\n    mana: Potion\n")
    assert answer == (
        "[holdfast: the old text is not in shop.py (15 lines), and no lines of it are similar; "
        "read it again]"
    )


def test_a_line_that_occurs_once_shows_the_place_though_all_others_were_rewritten() -> None:
    """Two of three lines were rewritten: too few tokens agreed, and nothing was shown."""
    text = "import abc\nimport math\n\ndef largest(of):\n    return max(of)\nimport pprint\nx = 1\n"
    old = "import math\nfrom numbers import Complex, Integral, Rational, Real, Number\nimport os\n"
    answer = explain(text, old, "a.py")
    assert answer.says.startswith("the old text is not in a.py; nearest is lines 2-")
    assert (4, "def largest(of):") in answer.lines


def test_a_place_reaches_as_far_as_the_old_text_around_the_line_that_it_shares() -> None:
    """The place was said to begin at the last line of the old text, below what was rewritten."""
    text = """\
encode = mbcs_encode

    )
# Import them explicitly to cause an ImportError
# on non-Windows systems
    return mbcs_decode(input, errors, True)

class IncrementalEncoder(codecs.IncrementalEncoder):
    def encode(self, input, final=False):
        return mbcs_encode(input, self.errors)[0]
"""
    old = "def decode(input, errors='strict'):\n    return mbcs_decode(input, errors, True)\n"
    answer = explain(text, old, "a.py")
    assert {4, 5, 6} <= {number for number, _ in answer.lines}
    assert "nearest is lines 5-" in answer.says


def test_of_a_long_place_only_what_differs_is_shown() -> None:
    lines = [f"    value_{n} = compute({n})" for n in range(300)]
    old = "\n".join([*lines[100:140], "    value_140 = compute(0)", *lines[141:200]])
    answer = explain("\n".join(lines), old, "f.py")
    assert (141, "    value_140 = compute(140)") in answer.lines
    assert len(answer.lines) < 20


@pytest.mark.shows("EDIT-SHORT")
def test_a_very_long_line_is_cut() -> None:
    text = "var a=1;" * 10_000 + "\nvar b = 2;\n"
    assert len(help_for("var b = 3;", text)) < 2_000


code = st.text(alphabet="ab(){}=.\n\t \r'é", max_size=400)


@pytest.mark.shows("EDIT-SHORT", "EDIT-NEAREST")
@given(code, code)
def test_the_lines_shown_are_those_of_the_file_and_few(text: str, old: str) -> None:
    answer = explain(text, old, "f")
    lines = text.split("\n")
    assert len(answer.lines) <= LINES_MAX
    assert len(answer.notes) <= 6
    assert all(lines[number - 1].removesuffix("\r") == line for number, line in answer.lines)
    assert list(answer.lines) == sorted(answer.lines)


@given(st.text(alphabet="abc \n", min_size=20, max_size=300), st.data())
def test_a_text_that_is_there_is_never_called_missing(text: str, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(text) - 1))
    last = data.draw(st.integers(first + 1, len(text)))
    assert "not in f" not in explain(text, text[first:last], "f").says
