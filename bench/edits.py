"""How often a failed edit is answered with the line that was meant: `python -m bench.edits`.

Blocks of lines are taken from real source files (those of this environment's packages), a mistake
is planted in each, and the answer is checked: the line in which the mistake was planted must be
shown, with its number and its text. The blocks occur once in their file, so each has one right
place. `--files N` and `--seed N` choose another sample.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import sysconfig
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.timing import Row, report
from holdfast.edits import explain, patch_attempts

GOAL = 0.95
FILES = 300
PER_FILE = 2
SUFFIXES = (".py", ".js", ".ts", ".c", ".h", ".pyx", ".css", ".html", ".md", ".toml", ".json")
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,}")


@dataclass(frozen=True)
class Case:
    """A failed edit: the file's text, the old text, and the lines that were meant."""

    kind: str
    text: str
    old: str
    meant: tuple[int, ...]

    def shown(self) -> tuple[bool, str]:
        """Whether a meant line is shown, and the answer."""
        answer = explain(self.text, self.old, "file")
        lines = self.text.split("\n")
        there = {number for number, line in answer.lines if line in _forms(lines[number - 1])}
        return set(self.meant) <= there, answer.to_text()


def _forms(line: str) -> tuple[str, str]:
    line = line.removesuffix("\r")
    return line, f"{line[:400]}… ({len(line)} characters)"


Planted = tuple[list[str], list[str], tuple[int, ...]]
"""The file's lines, the lines of the old text, and which of the file's lines were meant."""

Plant = Callable[[random.Random, list[str], int, int], Planted | None]
"""Plants a mistake in the block [first, last) of a file's lines; None where it cannot."""


def renamed(rng: random.Random, lines: list[str], first: int, last: int) -> Planted | None:
    """The model misremembers an identifier."""
    at = rng.randrange(first, last)
    words = list(WORD.finditer(lines[at]))
    if not words:
        return None
    word = rng.choice(words)
    name = rng.choice([word[0] + "s", word[0][:-1], f"{word[0]}_value", "other_name"])
    line = lines[at][: word.start()] + name + lines[at][word.end() :]
    return lines, [*lines[first:at], line, *lines[at + 1 : last]], (at,)


def indented(rng: random.Random, lines: list[str], first: int, last: int) -> Planted | None:
    """The block is indented deeper, less, or by tabs."""
    way = rng.choice(["deeper", "less", "tabs"])

    def one(line: str) -> str:
        if way == "deeper":
            return "    " + line if line.strip() else line
        bare = line.lstrip(" ")
        if way == "less":
            return line[min(2, len(line) - len(bare)) :]
        return "\t" * ((len(line) - len(bare)) // 4) + bare

    return lines, [one(line) for line in lines[first:last]], tuple(range(first, last))


def line_ends(rng: random.Random, lines: list[str], first: int, last: int) -> Planted | None:
    """The file's lines end in CRLF."""
    if last - first < 2:
        return None
    with_cr = [line + "\r" for line in lines[:-1]] + lines[-1:]
    return with_cr, lines[first:last], tuple(range(first, last))


def trailing(rng: random.Random, lines: list[str], first: int, last: int) -> Planted | None:
    """The file has blanks at the end of a line."""
    at = rng.randrange(first, last)
    changed = [*lines[:at], lines[at] + "  ", *lines[at + 1 :]]
    return changed, [*lines[first:at], lines[at] + "\t", *lines[at + 1 : last]], (at,)


def stale(rng: random.Random, lines: list[str], first: int, last: int) -> Planted | None:
    """At most a third of the block's lines was rewritten since it was read."""
    if last - first < 3:
        return None
    at = rng.randrange(first, last - 1)
    upto = min(last, at + rng.choice([1, 1, 2]), at + (last - first) // 3)
    # The new lines are other lines of the same file: real code, and the hardest kind of decoy.
    new = [lines[rng.randrange(len(lines))] for _ in range(rng.choice([1, 2, 3]))]
    if new == lines[at:upto]:
        return None
    changed = [*lines[:at], *new, *lines[upto:]]
    return changed, lines[first:last], tuple(range(at, at + len(new)))


def missing(rng: random.Random, lines: list[str], first: int, last: int) -> Planted | None:
    """The old text leaves out a line of the file."""
    if last - first < 3:
        return None
    at = rng.randrange(first + 1, last - 1)
    if not lines[at].strip():
        return None
    return lines, [*lines[first:at], *lines[at + 1 : last]], (at,)


def invented(rng: random.Random, lines: list[str], first: int, last: int) -> Planted | None:
    """The old text has a line that the file has not."""
    if last - first < 2:
        return None
    at = rng.randrange(first + 1, last)
    extra = lines[at][: len(lines[at]) - len(lines[at].lstrip())] + "validate(everything)"
    return lines, [*lines[first:at], extra, *lines[at:last]], (at - 1, at)


def spaced(rng: random.Random, lines: list[str], first: int, last: int) -> Planted | None:
    """The spacing inside a line differs."""
    at = rng.randrange(first, last)
    bare = lines[at].lstrip()
    if " " not in bare.strip():
        return None
    indent = lines[at][: len(lines[at]) - len(bare)]
    place = bare.index(" ")
    line = indent + bare[:place] + "  " + bare[place + 1 :]
    return lines, [*lines[first:at], line, *lines[at + 1 : last]], (at,)


def several(rng: random.Random, lines: list[str], first: int, last: int) -> Planted | None:
    """The old text occurs several times; any of its places may be the one that was meant."""
    counts: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        if len(line.strip()) > 8:
            counts.setdefault(line, []).append(number)
    whole = "\n".join(lines)
    found = [places for line, places in counts.items() if 2 <= len(places) == whole.count(line)]
    found = [places for places in found if len(places) <= 8]
    if not found:
        return None
    places = rng.choice(found)
    return lines, [lines[places[0]]], (rng.choice(places),)


def hunk(rng: random.Random, lines: list[str], first: int, last: int) -> Planted | None:
    """A hunk of an apply_patch call whose context lines are stale."""
    made = stale(rng, lines, first, last)
    if made is None:
        return None
    changed, old, meant = made
    body = "\n".join((" " if n else "-") + line for n, line in enumerate(old))
    patch = f"*** Begin Patch\n*** Update File: f\n@@\n{body}\n+new\n*** End Patch"
    (attempt,) = patch_attempts(patch)
    return changed, attempt.old.split("\n"), meant


KINDS: dict[str, Plant] = {
    "renamed identifier": renamed,
    "indentation": indented,
    "CRLF": line_ends,
    "trailing blanks": trailing,
    "spacing in a line": spaced,
    "stale text": stale,
    "missing line": missing,
    "invented line": invented,
    "several matches": several,
    "patch hunk": hunk,
}


def cases(paths: Sequence[Path], seed: int, per_file: int = PER_FILE) -> Iterator[Case]:
    """Planted mistakes of every kind in these files."""
    rng = random.Random(seed)
    for path in paths:
        text = path.read_text(encoding="utf-8")
        lines = text.split("\n")
        for kind, plant in KINDS.items():
            for _ in range(per_file):
                made = _case(rng, kind, plant, text, lines)
                if made is not None:
                    yield made


def _case(rng: random.Random, kind: str, plant: Plant, text: str, lines: list[str]) -> Case | None:
    for _attempt in range(8):
        height = rng.choice([1, 2, 3, 3, 5, 8, 12, 20, 40])
        first = rng.randrange(0, max(1, len(lines) - height))
        last = min(len(lines), first + height)
        block = "\n".join(lines[first:last])
        if len(block.strip()) < 12 or text.count(block) != 1:
            continue
        made = plant(rng, lines, first, last)
        if made is None:
            continue
        file_lines, old_lines, numbers = made
        whole, old = "\n".join(file_lines), "\n".join(old_lines)
        if kind != "several matches" and (not old.strip() or old in whole):
            continue
        filled = [n for n in numbers if file_lines[n].strip()]
        if not filled:
            continue
        # A block that is wrong everywhere is meant everywhere: its first line stands for it.
        meant = tuple(n + 1 for n in (filled[:1] if len(filled) > 4 else filled))
        return Case(kind, whole, old, meant)
    return None


def sources(limit: int, seed: int) -> list[Path]:
    """Source files of this environment's packages and of Python, in a random order."""
    found: list[Path] = []
    for name in ("purelib", "stdlib"):
        root = Path(sysconfig.get_paths()[name])
        found += [
            path for path in sorted(root.rglob("*")) if path.suffix in SUFFIXES and path.is_file()
        ]
    random.Random(seed).shuffle(found)
    chosen: list[Path] = []
    for path in found:
        data = path.read_bytes()
        if len(chosen) < limit and 40 < data.count(b"\n") < 8000 and _is_text(data):
            chosen.append(path)
    return chosen


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"\0" not in data and b"\r" not in data


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=FILES)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--misses", action="store_true", help="print what was missed")
    options = parser.parse_args()
    hits: dict[str, list[bool]] = {kind: [] for kind in KINDS}
    sizes, times, heights = [], [], []
    for case in cases(sources(options.files, options.seed), options.seed):
        start = time.process_time()
        hit, answer = case.shown()
        times.append(time.process_time() - start)
        sizes.append(len(answer.encode()) / 4)
        heights.append(answer.count("\n"))
        hits[case.kind].append(hit)
        if options.misses and not hit:
            print(f"--- {case.kind}: lines {case.meant}\n{case.old}\n>>>\n{answer}\n")
    rows = []
    for kind, results in hits.items():
        share = sum(results) / max(1, len(results))
        rows.append(Row(kind, 100 * share, "%", "95 %", share >= GOAL, f"{len(results)} edits"))
    rows.append(Row("worst kind", min(row.value or 0.0 for row in rows), "%"))
    rows.append(Row("tokens of an answer, median", statistics.median(sizes), "tokens"))
    rows.append(Row("tokens of an answer, largest", max(sizes), "tokens"))
    rows.append(Row("lines of an answer, largest", max(heights), "lines", "60 + 4"))
    rows.append(Row("processor time, median", 1e3 * statistics.median(times), "ms"))
    rows.append(
        Row("processor time, 99th of 100", 1e3 * sorted(times)[len(times) * 99 // 100], "ms")
    )
    return report("edits", rows)


if __name__ == "__main__":
    raise SystemExit(main())
