"""The two ends of a command's output that Codex cut in the middle.

    Warning: truncated output (original token count: 36947)
    Total output lines: 3000

    first rows…26947 tokens truncated…last rows

Since 0.166 the rollout has this text exactly as the model is sent it. The output begins with the
first rows, and its last row is the one that the notice counts. The rows at the cut may be
incomplete and do not count.

A file may contain such a text itself. Then nothing was left out, and the sizes do not agree: what
is shown and what was removed together are more than the size that Codex states above the output.
May take a cut output for one that shows nothing; never one that was not cut for one that was.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_NOTICE = re.compile(
    r"Warning: truncated output \(original token count: ([0-9]{1,9})\)\n"
    r"Total output lines: ([0-9]{1,9})\n\n"
)
_CUT = re.compile("\u2026([0-9]{1,9}) (tokens|chars) truncated\u2026")
_BYTES_PER_TOKEN = 4
_TOKENS_MAX = 200_000
"""Above about 1 MB Codex drops a part of an output before it counts the rows."""
_REMOVED_BYTES_MIN = 160
"""Longer than all that Codex writes into a cut output."""


class Ends(NamedTuple):
    """The complete rows before and after the cut, and how many rows the output had."""

    head: tuple[str, ...]
    tail: tuple[str, ...]
    rows_total: int


def is_cut(text: str) -> bool:
    """Whether a text contains the mark of a cut. It may be the text of a file."""
    return _CUT.search(text) is not None


def ends(output: str, tokens: int | None) -> Ends | None:
    """The ends of an output; None unless it was cut. `tokens`: its size as stated above it."""
    notice = _NOTICE.match(output)
    if notice is None or tokens is None or not int(notice[1]) == tokens <= _TOKENS_MAX:
        return None
    body = output[notice.end() :]
    cuts = list(_CUT.finditer(body))
    if len(cuts) != 1:
        return None
    [cut] = cuts
    head, tail = body[: cut.start()], body[cut.end() :]
    removed = int(cut[1]) * (_BYTES_PER_TOKEN if cut[2] == "tokens" else 1)
    shown = len((head + tail).encode("utf-8", "surrogatepass"))
    stated = tokens * _BYTES_PER_TOKEN
    if removed < _REMOVED_BYTES_MIN or shown + removed > stated + 2 * _BYTES_PER_TOKEN:
        return None
    first, last = head.split("\n")[:-1], tail.removesuffix("\n").split("\n")[1:]
    total = int(notice[2])
    if len(first) + len(last) >= total:
        return None
    return Ends(tuple(first), tuple(last), total)
