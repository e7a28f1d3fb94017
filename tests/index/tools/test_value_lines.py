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
    # The others are in the code of the results, which is not repeated.
    assert [(one.file, one.line, one.text) for one in answer.values] == [
        ("limits.py", 1, "MAX_TRIES = 3"),
    ]
    text = search_text(answer, Surface(call=lambda call: call.tool))
    assert "  values:\n  limits.py:1: MAX_TRIES = 3\n" in text
    for line in ("1 RETRY_TIMES = MAX_TRIES", "self.retry_delay = 15", "1 request = 'plain'"):
        assert line in text


@pytest.mark.shows("ANSWER-VALUES")
def test_a_value_among_the_arguments_of_an_option_is_shown_and_a_member_of_a_class_is_not(
    tmp_path: Path,
) -> None:
    """`DlRetryEx::copy` was listed as the value of a setting."""
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "run.cc").write_text(
        "bool Command::retryDownload() {\n"
        "  const int tries = option->getAsInt(PREF_RETRY_TRIES);\n"
        "  const RetryLimit limit = limitOf(tries);\n"
        "  download(limit, tries);\n  return report(tries);\n}\n"
    )
    (tree / "options.cc").write_text(
        "void options() {\n"
        '  add(new NumberOption(PREF_RETRY_TRIES, TEXT_RETRY_TRIES, "5", 0, 600));\n}\n'
    )
    (tree / "limit.cc").write_text("std::string RetryLimit::copy() const { return name; }\n" * 3)
    for number in range(12):
        (tree / f"m{number}.cc").write_text(f"int thing{number}() {{ return {number}; }}\n")
    answer = ask(tree, "retryDownload default number of tries to retry a download")
    assert answer.results[0].file == "run.cc"
    shown = search_text(answer, Surface(call=lambda call: call.tool))
    assert 'NumberOption(PREF_RETRY_TRIES, TEXT_RETRY_TRIES, "5", 0, 600)' in shown
    assert not any("RetryLimit::copy" in one.text for one in answer.values)


@pytest.mark.shows("ANSWER-VALUES")
def test_a_question_about_no_value_gets_none(tree: Path) -> None:
    assert ask(tree, "retry a request").values == ()
    assert ask(tree, "retry a request by default", limit=10).values == (), "a list is a list"
