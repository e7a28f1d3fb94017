"""Search without an index: find the words with ripgrep and read around the matches.

Files with more of the question's words come first, then files with more matching lines. Of each
file the window of lines with the most different words is read.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.retrieval.workers.common import Ask, Place, work

IGNORED = frozenset(
    ("a", "an", "and", "are", "as", "at", "be", "by", "do", "does", "for", "from", "how", "in",
     "into", "is", "it", "its", "of", "on", "or", "that", "the", "this", "to", "what", "when",
     "where", "which", "who", "why", "with")
)  # fmt: skip
WINDOW = 50


def prepare(job: Mapping[str, Any]) -> tuple[Ask, int]:
    root, program = Path(job["root"]), job["program"]

    def ask(text: str, limit: int) -> Sequence[Place]:
        asked = dict.fromkeys(re.findall(r"\w{2,}", text.lower()))
        terms = [word for word in asked if word not in IGNORED] or list(asked)
        matches: dict[str, dict[int, set[str]]] = {}
        for term in terms:
            done = subprocess.run(
                [program, "--ignore-case", "--line-number", "--no-heading", "--with-filename",
                 "--null", "--fixed-strings", "--no-messages", "--max-columns=1", "--", term, "."],
                cwd=root, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
            )  # fmt: skip
            for row in done.stdout.decode("utf-8", "replace").splitlines():
                path, _, rest = row.partition("\0")
                number = rest.partition(":")[0]
                if number.isdigit():
                    lines = matches.setdefault(path.removeprefix("./"), {})
                    lines.setdefault(int(number), set()).add(term)
        distinct = {path: len(set().union(*lines.values())) for path, lines in matches.items()}
        best = sorted(matches, key=lambda path: (-distinct[path], -len(matches[path]), path))
        return [_window(root, path, matches[path]) for path in best[:limit]]

    return ask, 0


def _window(root: Path, path: str, lines: Mapping[int, set[str]]) -> Place:
    """The first window with the most different words, in linear time."""
    numbers = sorted(lines)
    counts: Counter[str] = Counter()
    best, start, last = 0, numbers[0], 0
    for first in numbers:
        while last < len(numbers) and numbers[last] < first + WINDOW:
            counts.update(lines[numbers[last]])
            last += 1
        if (distinct := sum(times > 0 for times in counts.values())) > best:
            best, start = distinct, first
        counts.subtract(lines[first])
    start = max(1, start - 2)
    text = (root / path).read_bytes().decode("utf-8", "replace").splitlines()
    end = max(start, min(len(text), start + WINDOW - 1))
    return Place(path, start, end, "\n".join(text[start - 1 : end]))


if __name__ == "__main__":
    raise SystemExit(work(prepare))
