"""A question about a value is answered with the lines that set it."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.app import App
from holdfast.index.code_index import run_here
from holdfast.index.search_answers import SearchAnswer
from holdfast.index.tools.manage import manage_index
from holdfast.index.tools.render import Surface
from holdfast.index.tools.search import search_code
from holdfast.index.tools.search_text import search_text

FILES = {
    "retry.py": "import settings\n\n\ndef retry_request(request):\n    send(settings.request)\n"
    "    if request.retries < settings.RETRY_TIMES:\n        return wait(request.retry_delay)\n",
    "settings.py": "RETRY_TIMES = MAX_TRIES\nOTHER_TIMES = 7\n",
    "limits.py": "MAX_TRIES = 3\n",
    "defaults.py": "request = 'plain'\nplain = 1\n",
    "request.py": "class Request:\n    def __init__(self):\n        self.retry_delay = 15\n",
    "copies.py": "def copy(a):\n    return dict(retry_delay=a.retry_delay)\n",
    "tests/test_retry.py": "RETRY_TIMES = 99\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for number in range(12):
        (tmp_path / "tree" / f"m{number}.py").write_text(f"def thing_{number}():\n    pass\n")
    return tmp_path / "tree"


def ask(tree: Path, question: str, **options: int) -> SearchAnswer:
    index = App(tree.parent / "home").open_index()
    index.start = run_here
    manage_index(index, "create", str(tree))
    try:
        return search_code(index, str(tree), question, **options)  # type: ignore[arg-type]
    finally:
        index.close()


@pytest.mark.shows("ANSWER-VALUES")
def test_the_values_of_settings_that_the_best_result_names_are_shown(tree: Path) -> None:
    answer = ask(tree, "retry a request: how many times by default")
    assert answer.results[0].symbol_label == "retry_request"
    assert [(one.file, one.line, one.text) for one in answer.values] == [
        ("defaults.py", 1, "request = 'plain'"),
        ("limits.py", 1, "MAX_TRIES = 3"),
        ("request.py", 3, "self.retry_delay = 15"),
        ("settings.py", 1, "RETRY_TIMES = MAX_TRIES"),
    ]
    text = search_text(answer, Surface(call=lambda call: call.tool))
    assert "  values:\n  defaults.py:1: request = 'plain'\n  limits.py:1: MAX_TRIES = 3\n" in text


@pytest.mark.shows("ANSWER-VALUES")
def test_a_question_about_no_value_gets_none(tree: Path) -> None:
    assert ask(tree, "retry a request").values == ()
    assert ask(tree, "retry a request by default", limit=10).values == (), "a list is a list"
