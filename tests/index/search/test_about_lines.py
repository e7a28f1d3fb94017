"""Which lines of a long text are shown: those about the question, with the blocks they are in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.index.generations.model import StoredChunk
from holdfast.index.search.about_lines import Blocks, about_lines
from holdfast.index.search.page_levels import WHOLE_FIRST_MAX
from holdfast.index.search.preview import Asked, matching_lines, part_of_code, whole_code
from holdfast.index.search.regex import LineMatch
from holdfast.index.search.results import Finding, Group, Items
from holdfast.text import for_looking, is_only_brackets, only_closes

SAVE = """\
def save(self, response):
    # the cookie of the answer
    try:
        empty = self.is_empty()
    except AttributeError:
        return response
    if self.name in self.cookies and empty:
        response.delete_cookie(
            self.name,
            path=self.path,
        )
    else:
        self.count += 1
        if response.status < 500:
            self.store()
            self.log("stored")
            self.tell()
        return None
    a = 1
    b = 2
    c = 3
    return response
"""


def about(text: str, word: str, first: int | None = 0, most: int | None = None) -> list[str]:
    lines = text.rstrip().split("\n")
    scores = [float(word in line) for line in lines]
    comments = {i for i, line in enumerate(lines) if line.strip().startswith(("#", "//"))}
    kept = about_lines(lines, scores, first=first, comments=comments, characters_max=most)
    return [lines[i].strip() for i in kept]


@pytest.mark.shows("READ-ABOUT")
def test_a_line_is_shown_with_the_conditions_that_it_is_under() -> None:
    assert about(SAVE, "store()") == [
        "def save(self, response):",
        "if self.name in self.cookies and empty:",
        "else:",
        "if response.status < 500:",
        "self.store()",
    ]


@pytest.mark.shows("READ-ABOUT")
def test_a_condition_is_shown_with_what_it_decides() -> None:
    shown = about(SAVE, "status")
    assert shown[-3:] == ["self.store()", "self.tell()", "return None"], "not what it only reports"


@pytest.mark.shows("READ-ABOUT")
def test_an_argument_is_shown_with_its_call() -> None:
    assert about(SAVE, "path=")[-2:] == ["response.delete_cookie(", "path=self.path,"]


def test_a_branch_of_a_switch_is_shown_with_the_switch() -> None:
    text = (
        "func f() {\n\tx := 1\n\tswitch state {\n\tcase a:\n\t\tgo()\n\tcase b:\n\t\tstop()\n\t}\n}"
    )
    text = text.replace("x := 1", "\n\t".join(f"x{n} := {n}" for n in range(12)))
    assert about(text, "stop") == ["func f() {", "switch state {", "case b:", "stop()"]


def test_directives_and_attributes_say_nothing_about_blocks() -> None:
    filler = "\n".join(f"      int x{n};" for n in range(12))
    text = f"int f() {{\n   while (go) {{\n#ifdef A\n{filler}\n#endif\n      step();\n   }}\n}}"
    assert about(text, "step") == ["int f() {", "while (go) {", "step();"]


def test_a_short_text_is_shown_whole() -> None:
    text = "def limit(n):\n    # why\n    if n > most:\n        return most\n    return n\n"
    assert about(text, "most") == [
        "def limit(n):", "if n > most:", "return most", "return n",
    ]  # fmt: skip


def test_within_a_budget_the_best_lines_come_first() -> None:
    shown = about(SAVE, "status", most=120)
    assert "if response.status < 500:" in shown
    assert sum(map(len, shown)) <= 120
    assert len(about(SAVE, "status", most=400)) > len(shown)


@given(
    st.lists(st.sampled_from(["", "x", "  if a(", "    b", "  )", "}", "  else {", "\tc = ["])),
    st.integers(0, 200) | st.none(),
)
def test_any_lines_have_lines_about_them(lines: list[str], most: int | None) -> None:
    """Every line with a score is kept unless there is a budget, and nothing is made up."""
    scores = [float("b" in line or "c" in line) for line in lines]
    kept = about_lines(lines, scores, characters_max=most)
    assert kept == sorted(set(kept))
    assert all(0 <= i < len(lines) for i in kept)
    wanted = {i for i, score in enumerate(scores) if score}
    if most is None:
        assert wanted <= set(kept)
    blocks = Blocks(lines)
    for i, head in enumerate(blocks.heads):
        assert head is None or (
            head < i and blocks.indents[head] < blocks.indents[blocks.starts[i]]
        )


@pytest.mark.parametrize(
    ("line", "only"),
    [("", True), ("  }", True), ("});", True), ("  ],", True), ("{", True), ("}, {", True),
     ("[]", False), ("{},", False), ("end", False), ("} else {", False), ("x)", False)],
)  # fmt: skip
def test_lines_with_brackets_alone(line: str, only: bool) -> None:
    assert is_only_brackets(line) is only


@pytest.mark.shows("ANSWER-CODE")
@pytest.mark.parametrize(
    ("line", "language", "closes"),
    [("", "", True), ("  }", "", True), ("});", "", True), ("  ],", "", True), ("{", "", False),
     ("}, {", "", False), ("[]", "ruby", False), ("{},", "", False), ("()", "", False),
     ("end", "ruby", True), ("  end", "lua", True), ("end", "", False), ("end", "python", False),
     ("end,", "ruby", False), ("end)", "ruby", False), ("done", "bash", True), ("fi", "bash", True),
     ("esac", "bash", True), ("done", "ruby", False), ("fi", "", False),
     ("endpoint", "ruby", False), ("x)", "", False), ("...", "", False)],
)  # fmt: skip
def test_lines_that_only_close_something(line: str, language: str, closes: bool) -> None:
    """An argument `end,`, or the list `[]` that a function returns, was not shown."""
    assert only_closes(line, language) is closes


def test_a_line_with_a_score_is_kept_if_it_only_closes() -> None:
    assert about("f(\n    1,\n)\n", ")", first=None) == ["f(", ")"]
    assert about("f(\n    1,\n)\n", ")") == ["f(", "1,", ")"]


def test_lines_for_looking_have_a_space_for_each_level() -> None:
    lines = ["    def f(self,", "          more):", "        if a:", "            b", "    c", ""]
    assert for_looking(lines) == ["def f(self,", " more):", " if a:", "  b", "c", ""]
    around = ["        if a:", "            b", "    return c"]  # `while`, at 4, is left out
    assert for_looking(around) == [" if a:", "  b", "return c"]
    assert for_looking(["func f() {", "\tif a {", "\t\tb", "}"]) == [
        "func f() {", " if a {", "  b", "}",
    ]  # fmt: skip


ASKED = Asked({"delay": 1.0, "retri": 1.0})


def test_a_comment_is_shown_if_it_has_a_word_that_the_code_lacks() -> None:
    text = "def f():\n    # a delay\n    # a retry\n    # the retry again\n    return delay\n"
    assert [n for n, _ in whole_code(text, 1, ASKED, "python").lines] == [1, 3, 5]
    part = part_of_code(text, 1, ASKED, "python", "f", 1_000)
    assert [n for n, _ in part.lines] == [1, 3, 5]
    assert not part.whole


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("limit =\n    30", "limit = 30"),
        ("limit: int = Duration(\n    30,\n)", "limit: int = Duration( 30,"),
        ('"limit":\n  30', '"limit": 30'),
        ("if limit:\n    stop()", "if limit:"),
        ("f(limit)\ng()", "f(limit)"),
        ("limit =", "limit ="),
    ],
)
def test_a_value_on_the_next_line_is_shown_with_its_name(text: str, shown: str) -> None:
    match = LineMatch(7, text.index("limit"), text.index("limit") + 5)
    assert list(matching_lines(text, 7, [match])) == [(7, shown)]


def group(n: int, score: float, text: str = "def f():\n    pass\n") -> Group:
    chunk = StoredChunk((1, n), f"{n}.py", "python", 1, 2, text, f"sym_{n}", "g", "function")
    return Group([Finding("/tree", chunk, score)])


@pytest.mark.shows("ANSWER-WEAK")
def test_a_page_ends_where_results_score_little_beside_the_first() -> None:
    def page(cuts_weak: bool, *scores: float) -> int:
        items = Items(None, lambda root, path: (None, "fresh"), leads=True, cuts_weak=cuts_weak)
        return items.page([group(n, one) for n, one in enumerate(scores)], 0, 10, 8_000).end

    weak = [1.0] + [0.1] * 9
    assert page(True, *weak) == WHOLE_FIRST_MAX, "the first few always have a place"
    assert page(False, *weak) == 10
    assert page(True, *[1.0] * 7, *[0.1] * 3) == 7
    assert page(True, *[0.1] * 10) == 10, "compared with the first one"


@pytest.mark.shows("ANSWER-WEAK")
def test_a_result_that_scores_less_than_half_is_a_place() -> None:
    items = Items(None, lambda root, path: (None, "fresh"), leads=True)
    text = "def f():\n" + "    step()\n" * 90
    found = items.page(
        [group(0, 1.0, text), group(1, 0.9, text), group(2, 0.4, text)], 0, 10, 8_000
    )
    assert [one.preview is not None for one in found.items] == [True, True, False]
    assert found.items[2].next is not None
