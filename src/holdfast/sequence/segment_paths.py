"""Where the segments of a tree are kept."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

from holdfast.sequence.tokens.lexer import CODE_ONLY, LexerOptions


def segments_directory(
    sequence_root: Path, tree: Path | str, options: LexerOptions = CODE_ONLY
) -> Path:
    """The directory for the segments of a tree with these lexer options."""
    name = "".join(flag for flag, on in (("c", options.comments), ("w", options.whitespace)) if on)
    key = sha256(os.fsencode(tree)).hexdigest()[:16]
    return sequence_root / (key + ("-" + name if name else ""))
