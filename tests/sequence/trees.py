"""Opens the segments of a tree without an app."""

from collections.abc import Callable
from pathlib import Path

from holdfast.files.listing import list_tree
from holdfast.files.policy import Policy
from holdfast.sequence.segment_store import Progress
from holdfast.sequence.tokens.lexer import LexerOptions
from holdfast.trees import SourceTree, opened


def open_tree(
    root: Path,
    sequence_root: Path,
    options: LexerOptions,
    progress: Progress,
    now_ns: Callable[[], int],
    policy: Policy | None = None,
) -> SourceTree:
    """List the files of a tree, update its segments with what changed, and open them."""
    root = root.resolve()
    return opened(root, list_tree(root, now_ns, policy), sequence_root, options, progress)
