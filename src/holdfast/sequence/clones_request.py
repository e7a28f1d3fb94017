"""The request of `clones`."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.sequence.tokens.lexer import CODE_ONLY, LexerOptions

MINIMUM = 50
"""Shorter repeats are more often idioms of a language than copies."""


@dataclass(frozen=True, slots=True)
class ClonesRequest:
    """Which repeated blocks are listed."""

    minimum: int = MINIMUM
    """The shortest block, in tokens."""
    limit: int = 0
    """How many blocks are listed at most; 0 lists all of them."""
    renamed: bool = False
    since: str | None = None
    """Only blocks that have more copies than at this revision."""
    overlapping: bool = False
    every_file: bool = False
    """Whether data and documents are searched too, not only code."""
    options: LexerOptions = CODE_ONLY
