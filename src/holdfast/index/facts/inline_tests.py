"""Tests inside source files.

Rust and Zig keep tests in the file they test, so the path does not identify them. Such a test
contains the words of the code beside it and would rank above it. It is recognised by the file's
facts, so that it is ranked like a test in a separate file.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.index.facts.model import MODULE

if TYPE_CHECKING:
    from holdfast.index.facts.model import FileFacts, Symbol

_ATTRIBUTE = re.compile(r"\s*#\[(?:cfg\(test\)|(?:\w+::)*(?:test|bench)\b)")
_TESTS = frozenset({"tests", "test"})


def is_test_code(facts: FileFacts, owner: int, text: str) -> bool:
    """Whether a chunk with this owner and text is a test inside a source file.

    May miss a test that a macro defines. Never reports production code as a test.
    """
    match facts.language:
        case "rust":
            if _ATTRIBUTE.match(text):
                return True
            return any(s.kind == "namespace" and s.name in _TESTS for s in _owners(facts, owner))
        case "zig":
            return any(s.signature.startswith("test ") for s in _owners(facts, owner))
        case _:
            return False


def _owners(facts: FileFacts, at: int) -> list[Symbol]:
    found = []
    while at != MODULE:
        symbol = facts.symbols[at]
        found.append(symbol)
        at = symbol.parent if symbol.parent < at else MODULE
    return found
