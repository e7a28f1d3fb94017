"""Ignore rules of a hostile tree are matched in bounded time, whatever they are."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.files import disk, ignore
from holdfast.files.ignore import Rules
from tests.scale import examples

HOSTILE = [
    "*a" * 8 + "*b",
    "*a" * 200 + "b",
    "**/" * 40 + "b",
    "**/a/" * 60 + "b",
    "a*/" * 20 + "*a*a*a*a*b",
    "[a]*" * 100 + "b",
    "?*" * 100 + "b",
    "/" + "**/*a*a*/" * 20 + "b",
]
"""Patterns that a backtracking matcher does not come to an end with."""

PROGRAM = """
import sys
from holdfast.files.ignore import Rules
rules = Rules(sys.argv[1].split("\\n"))
for path in ("a" * 255, "/".join(["a" * 100] * 30), "/".join("a" * 1000)):
    assert rules.verdict(path, path.rpartition("/")[2], False) is None, path
"""


@pytest.mark.shows("SEC-IGNORE-LINEAR")
@pytest.mark.parametrize("pattern", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_pattern_is_decided(pattern: str) -> None:
    """`*a*a*a*a*a*a*a*a*b` against sixty times `a` took more than a minute, and froze the host."""
    run = [sys.executable, "-c", PROGRAM, pattern]
    subprocess.run(run, check=True, timeout=60)  # ends at once, or never


@pytest.mark.shows("SEC-IGNORE-LINEAR")
def test_steps_grow_with_the_path_and_not_with_its_powers() -> None:
    """Counted by the atomic groups: after a star the part behind it is looked for once."""
    regex = ignore._translate("*a*a*a*b", path=False)
    assert regex == "(?>[^/]*?a)(?>[^/]*?a)(?>[^/]*?a)[^/]*b"


PIECES = ["a", "b", "/", "*", "**", "**/", "/**", "?", "[ab]", "[!a]", "\\\\a", "."]
NAMES = st.text("ab.", min_size=1, max_size=4)


@pytest.mark.shows("SEC-IGNORE-LINEAR")
@settings(max_examples=examples(1500))
@given(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=7).map("".join),
    st.lists(NAMES, min_size=1, max_size=5).map("/".join),
    st.booleans(),
)
def test_a_pattern_matches_what_its_plain_translation_matches(
    pattern: str, path: str, whole: bool
) -> None:
    text = path if whole else path.replace("/", "")
    quick, plain = ignore._translate(pattern, path=whole), plainly(pattern, path=whole)
    assert (quick is None) == (plain is None)
    if quick is not None and plain is not None:
        matched = re.compile(f"(?:{quick})\\Z", re.DOTALL).match(text)
        assert (matched is None) == (re.compile(plain + "\\Z", re.DOTALL).match(text) is None)


@pytest.mark.shows("SEC-IGNORE-BOUNDED")
@pytest.mark.parametrize("name", [".gitignore", ".holdfastignore"])
def test_rules_that_are_a_pipe_do_not_block(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.py").write_text("a = 1\n")
    os.mkfifo(tmp_path / name)
    assert set(disk.walk(str(tmp_path)).stats) == {"a.py"}


@pytest.mark.shows("SEC-IGNORE-BOUNDED")
def test_of_a_huge_file_of_rules_only_the_start_is_read(tmp_path: Path) -> None:
    """A sparse file of 600 MB was read whole."""
    (tmp_path / "a.py").write_text("a = 1\n")
    (tmp_path / "b.py").write_text("b = 1\n")
    with (tmp_path / ".gitignore").open("wb") as file:
        file.write(b"b.py\n")
        file.truncate(3 * 2**30)
    assert "a.py" in (found := disk.walk(str(tmp_path)).stats)
    assert "b.py" not in found


@pytest.mark.shows("SEC-IGNORE-BOUNDED")
def test_rules_beyond_the_limits_are_not_used() -> None:
    many = Rules([*(f"x{number}*" for number in range(ignore.PATTERNS_MAX)), "late*", "plain"])
    assert many.verdict("x7y", "x7y", False) is True
    assert many.verdict("late", "late", False) is None
    assert many.verdict("plain", "plain", False) is True
    assert Rules(["a" * 2000 + "*"]).verdict("a" * 2000, "a" * 2000, False) is None


def plainly(pattern: str, *, path: bool) -> str | None:
    """The twin: the same pattern as a regular expression that may try everything."""
    out: list[str] = []
    i, n = 0, len(pattern)
    while i < n:
        c = pattern[i]
        if c == "*":
            stars = i
            while i < n and pattern[i] == "*":
                i += 1
            starts = stars == 0 or pattern[stars - 1] == "/"
            ends = i == n or pattern[i] == "/"
            if path and i - stars >= 2 and starts and ends:
                if i == n:
                    out.append(".+" if stars else ".*")
                else:
                    out.append("(?:.*/)?")
                    i += 1
            else:
                out.append("[^/]*")
            continue
        i += 1
        if c == "?":
            out.append("[^/]")
        elif c == "[":
            cls, i = ignore._character_class(pattern, i)
            if cls is None:
                return None
            out.append(cls)
        elif c == "\\":
            if i == n:
                return None
            out.append(re.escape(pattern[i]))
            i += 1
        else:
            out.append(re.escape(c))
    return "".join(out)
