"""docs/requirements.md and the tests agree, both ways."""

from collections import Counter

from tests import requirements


def test_every_mark_on_a_test_names_a_listed_requirement() -> None:
    listed = set(requirements.listed(requirements.PAGE.read_text(encoding="utf-8")))
    unknown = {mark: tests for mark, tests in requirements.marks().items() if mark not in listed}
    assert unknown == {}


def test_every_requirement_is_listed_once() -> None:
    counts = Counter(requirements.listed(requirements.PAGE.read_text(encoding="utf-8")))
    assert [name for name, count in counts.items() if count > 1] == []


def test_the_page_says_what_the_marks_say() -> None:
    text = requirements.PAGE.read_text(encoding="utf-8")
    assert requirements.rewritten(text, requirements.marks()) == text, "run: make requirements"
