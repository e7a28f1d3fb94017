"""What we know of Bash, by source files that say what is true of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.index.facts.extract import extract
from holdfast.index.facts.languages import language_of
from holdfast.index.facts.languages.shell_repair import repaired
from tests.index.claims import check

CASES = {
    "a function of the same file": """
        # --- run.sh
        build() { echo 1; }
        # ^ defines function build
        build now
        # ^ calls build by same file
        """,
    "a function with the keyword": """
        # --- run.sh
        function deploy-all() {
          # ^ defines function deploy-all
          echo 1
        }
        main() { deploy-all; }
        # ^ calls deploy-all
        """,
    "a sourced file": """
        # --- lib/common.sh
        log() { echo "$1"; }
        # --- run.sh
        source ./lib/common.sh
        # ^ imports ./lib/common.sh:*
        log "a"
        # ^ calls log by wildcard import
        """,
    "a file sourced beside the script": """
        # --- bin/common.sh
        log() { echo "$1"; }
        # --- bin/run.sh
        . "$DIR/common.sh"
        # ^ imports ./common.sh:*
        log "a"
        # ^ calls log
        """,
    "a function of a file that is not sourced": """
        # --- common.sh
        log() { echo "$1"; }
        # --- run.sh
        log "a"
        # ^ unresolved
        """,
    "commands stay open": """
        # --- run.sh
        grep -r a .
        # ^ unresolved
        """,
    "calls in pipes and substitutions": """
        # --- run.sh
        names() { echo a; }
        count() { wc -l; }
        x=$(names | count)
        # ^ calls names
        # ^ calls count
        """,
    "the later definition replaces the earlier": """
        # --- run.sh
        go() { echo 1; }
        go() { echo 2; }
        go
        # ^ calls go
        """,
    "variables and comments": """
        # --- run.sh
        # Where it goes.
        TARGET=/tmp
        # ^ defines variable TARGET
        # ^ doc Where it goes.
        """,
}


@pytest.mark.parametrize("promise", CASES)
@pytest.mark.shows("FACT-BASH")
def test_bash(promise: str) -> None:
    check(CASES[promise])


BROKEN = {
    "an operator the grammar does not know": b"""is_mac() {
  [ $# -eq 0 ] || [ "$(osx)" "$@" ]
}
""",
    "an if without its end": b"""is_mac() {
  if true; then
    echo "a"
}
""",
    "a quote that is not closed": b"""is_mac()
{
  echo `echo "a`
}
""",
    "trouble between functions": b"""if [ a ]; then

is_mac() (
  uname -s
)
""",
}
AFTER = b"""
# Sends it.
ship() {
  is_mac now
}

send() {
  ship
}
"""


@pytest.mark.parametrize("trouble", BROKEN)
@pytest.mark.shows("FACT-BASH-MENDED")
def test_functions_around_a_place_that_cannot_be_parsed_are_found(trouble: str) -> None:
    """One such place once took every function after it."""
    source = BROKEN[trouble] + AFTER
    facts = extract("run.sh", source)
    assert [p.code for p in facts.problems] == ["syntax"]
    found = {s.name: s for s in facts.symbols if s.kind == "function"}
    assert list(found) == ["is_mac", "ship", "send"]
    for name, symbol in found.items():
        assert source[symbol.span.start :].startswith(name.encode())
    assert found["ship"].doc == "Sends it."
    called = {(facts.symbols[c.caller].name, c.name) for c in facts.calls if c.caller >= 0}
    assert {("ship", "is_mac"), ("send", "ship")} <= called
    assert ":" not in {c.name for c in facts.calls}


LINES = st.sampled_from(
    [
        b"a() {",
        b"function b {",
        b"c()",
        b"(",
        b")",
        b"{",
        b"}",
        b"  d() {",
        b"  }",
        b"x $(",
        b"",
        b"#",
    ]
)


@given(st.lists(LINES, max_size=12), st.data())
@pytest.mark.shows("FACT-BASH-MENDED")
def test_mending_only_blanks(lines: list[bytes], data: st.DataObject) -> None:
    """Whatever fits: nothing moves, and what is not kept is white or a colon."""
    source = b"\n".join(lines)
    after = repaired(source, lambda _: data.draw(st.booleans()))
    assert len(after) == len(source)
    for now, before in zip(after, source, strict=True):
        assert now == before or (before != 10 and now in b" :")
    assert repaired(source, lambda _: True) == source


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 8


@pytest.mark.parametrize(
    ("path", "source", "language"),
    [
        ("completions/rsync", b"# for rsync  -*- shell-script -*-\n\ncomplete x\n", "bash"),
        ("lib/common", b"# words\nsay_hello() {\n  echo hi\n}\n", "bash"),
        ("scripts/x", b"# vim: set ft=sh ts=2:\necho\n", "bash"),
        ("scripts/y", b"#!/usr/bin/perl\nfoo() {\n", "text"),
        ("README", b"call it so:\nfoo() {\n}\n", "text"),
        ("scripts/z", b"just -*- shell-script -*- words\n", "text"),
    ],
)
def test_a_file_without_an_extension_may_be_for_a_shell(
    path: str, source: bytes, language: str
) -> None:
    assert language_of(path, source) == language
