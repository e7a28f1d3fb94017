"""Tests that stand among the code they test.

Rust and Zig keep tests in the file of what they test, so the path does not tell. Such a test has
all the words of the code beside it, and mostly more of them in a row; it is told from the file's
facts, so that it can be held back like a test in a file of its own.
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
    """Whether a chunk with this owner and text is a test, though its file is none.

    May miss one that a macro defines. Never takes code for a test that is built without tests.
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
