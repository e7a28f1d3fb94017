"""What we know of Bash, by source files that say what is true of them."""

import pytest

from holdfast.index.languages import language_of
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
