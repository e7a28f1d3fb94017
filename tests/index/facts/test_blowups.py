"""Texts that our own rules once did not come to an end with, or hardly.

Each was found by repeating tokens. What is shown is that they end at all: before, they took
minutes to centuries.
"""

import os
import re
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from holdfast.files.snapshot import Entry, Stat
from holdfast.index.building.prepare import extract_facts, prepare
from holdfast.index.facts import trial_parse as trial
from holdfast.index.facts.languages import c, markdown
from holdfast.index.facts.languages.config import members
from holdfast.index.facts.languages.line_patterns import TABLE
from holdfast.index.generations.model import SourceFile
from tests.scale import size

SECONDS = 30.0
SCOPES = b"a<b>::" * 60
LONG = size(400_000, 50_000)

TEXTS = {
    "scopes.cpp": b"int " + SCOPES + b"x[3], *" + SCOPES + b"y;\n" + SCOPES + b"z w;\n",
    "blank.h": b"\n" * LONG,
    "comments.json": b"[{" + b"/*" * (LONG // 2),
    "quotes.json": b'{"a": ' + b'"\\' * (LONG // 2),
    "cells.ipynb": b'{"cells": [' + b"{/*" * (LONG // 3),
    "spaces.md": (b"#" + b" " * 590 + b"x\n") * 600,
    "marks.md": (b"# " + b"# " * 290 + b"x\n") * 600,
    "tail.py": (b'def f():\n    """a\n ' + b" " * 1_900 + b'x \n"""\n') * 200,
    "spaces.sh": b"if\na()" + b" " * LONG + b"x\n",
    "bare.js": b"import " + b" " * 19_000 + b"x\n" + b"import {" + b" " * 19_000 + b"} x\n",
    "one-line.js": b"var a = 1;" * size(40_000, 8_000),
    "blank.nim": b"A" + b"\n" * LONG,
    "signature.hs": b"a,\n" * (LONG // 3),
    "late.dart": b"late\n" * (LONG // 5),
    "static.groovy": b"static\n" * (LONG // 7),
    "justfile": b"a" + b" " * LONG + b"\n",
}


def ended(work: Callable[[], object]) -> bool:
    """Whether some work ends, in a process that has so much of a processor and no more."""
    if not (child := os.fork()):
        try:
            trial.mark_disposable()
            trial.allow(SECONDS)
            work()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.shows("FACT-ENDS")
@pytest.mark.parametrize("path", TEXTS)
def test_what_comes_after_a_parse_ends_too(path: str) -> None:
    # Enough lines that it is not taken for minified, and left out.
    source = TEXTS[path] + b"\n" * (len(TEXTS[path]) // 400)
    job = SourceFile(path, source, Entry(Stat(len(source), 0, 0), path))
    assert ended(partial(prepare, job, extract_facts))


@pytest.mark.shows("FACT-ENDS")
@pytest.mark.parametrize("language", TABLE)
def test_no_line_of_a_table_looks_far(language: str) -> None:
    pattern = TABLE[language].pattern
    words = sorted(set(re.findall("[A-Za-z]{2,}", TABLE[language].text)))
    texts = [
        text
        for word in ["A", *words][: size(1_000, 3)]
        for text in (f"{word}\n" * 3_000, f"{word} a" + "\n" * 20_000, f"{word} a" + " " * 20_000)
    ]
    assert ended(partial(_search, pattern, texts))


def _search(pattern: "re.Pattern[bytes]", texts: list[str]) -> None:
    for text in texts:
        assert list(pattern.finditer(text.encode())) is not None


_ONE_PATTERN = re.compile(rb" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*\r?\n?\Z")


@given(st.text("# \tab", max_size=12), st.sampled_from(["", "\n", "\r\n"]))
def test_headings_are_those_of_one_pattern_that_is_slow(text: str, end: str) -> None:
    source = (text + end).encode()
    match = _ONE_PATTERN.match(source)
    expected = (len(match[1]), (match[2] or b"").decode().strip() or "#") if match else None
    found = [(level, title) for _, level, title in markdown._headings(source, [0, len(source)])]
    assert found == ([expected] if expected else [])


_DECLARED_BACKTRACKING = re.compile(
    r"[\s*&(]*(?:\w+::(?=[*&]))?[*&\s]*((?:[\w~]+(?:<[^()]*>)?::)*(?:operator\s*(?:\(\)|[^\s(\w]+|\s[\w\s*&:]+)|~?\w+))"
    r"(?:<[^()]*>)?\s*\(", re.DOTALL)  # fmt: skip


@given(
    st.lists(
        st.sampled_from(
            ["a", "b", "<", ">", "<b>", "::", "*", "&", " ", "~", "operator", "()", "(", "->", ","]
        ),
        max_size=9,
    )
)
def test_declared_names_are_those_of_one_pattern_that_is_slow(parts: list[str]) -> None:
    text = "".join(parts) + "("
    assume("operator::" not in text)  # not C++; the slow pattern takes it for an operator's name
    one, other = _DECLARED_BACKTRACKING.match(text), c._DECLARED.match(text)
    assert (one and one.groups()) == (other and other.groups())


def test_what_is_not_closed_in_json_ends_nothing_else() -> None:
    keys = [entry.key for entry in members(b'{"a": 1, "b": "x\n, "c": /* no end', 0)]
    assert keys[:2] == ["a", "b"]


@pytest.mark.shows("FACT-NEVER-FAILS")
@pytest.mark.parametrize("path", ["a.json", "a.py", "a.go", "a.md", "a.yaml"])
def test_a_file_that_ends_in_blank_lines_is_cut_into_chunks(path: str) -> None:
    """More than two hundred of them after something of its own, and the run failed."""
    heads = {
        "a.json": b'{"a": "%s"}' % (b"x" * 900),
        "a.py": b"def f():\n    '%s'" % (b"x" * 3_000),
        "a.go": b"package a\nfunc f() { g(`%s`) }" % (b"x" * 3_000),
        "a.md": b"# A\n%s" % (b"x" * 3_000),
        "a.yaml": b"a: %s\nb: 1" % (b"x" * 900),
    }
    source = heads[path] + b"\n" * 400
    found = extract_facts(path, source)
    assert b"".join(source[c.span.start : c.span.end] for c in found.chunks) == source
