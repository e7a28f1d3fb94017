"""Judges every word of ours by the request that carries it.

What the model holds is rebuilt from the request alone: the texts that it shows, and the model's own
edits in it, each line under the number it was last shown with. Nothing of Holdfast takes part. What
was on disk when a result was made is the snapshot of the first request that has the result.

    unchanged, named as held    every such line is in the request, with the text on disk
    a diff                      applied to the lines in the request it gives the text on disk
    only the lines not held     together with those in the request they are the text on disk
    changed on disk             every line named differs from disk, and no other line does
    help for a failed edit      every line shown is on disk under its number
    after a compaction          every file named was shown before; `changed` is said where it is so

A marker that outlives its text (a compaction keeps the latest messages) must be beside a recovery
note that names the file.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.agents.model import Recorded
from tests.agents.shown import Result, Said, Used, shown

MARK = "[holdfast: "
NUMBERED = re.compile(r" *([0-9]+)(?:\t|→|: |\| )(.*)\Z", re.DOTALL)
OURS = re.compile(r"^holdfast read (\S+):(\d+)-(\d+)$")
"""Prints the lines, each after its number and a space."""
UNCHANGED = re.compile(r"\[holdfast: lines? (\d+)(?:-(\d+))? unchanged")
DIFF = re.compile(r"\[holdfast: lines? (\d+)(?:-(\d+))? as you have them, with this diff")
UNSEEN = re.compile(r"\[holdfast: lines? (\d+)(?:-(\d+))?, only what you do not have")
ONLY = re.compile(r"\[holdfast: only lines (\d+)-(\d+) of (\d+)-(\d+); you have the others")
FOCUSED = re.compile(r"\[holdfast: (\d+) lines, (\d+) of them shown and the rest folded")
STALE = re.compile(r"\[holdfast: (\S+) changed on disk since you read it: ([^\]]*)\]")
MODIFIED = re.compile(r"Note: (\S+) was modified, either by the user or by a linter\.[^\n]*")
HELP = re.compile(r"\[holdfast: the old text (?:is|occurs|now occurs)[^\n]*\]")
RECOVERY = "[holdfast: before this compaction you had seen"
HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
OWN_UNCHANGED = ("Wasted call", "file unchanged since")

RESTORED = re.compile(r"\[holdfast: (?:lines \d+-\d+|(all) \d+ lines) of \S+ as they were then\]")
OURS_SAME = re.compile(r"\[readcache: unchanged(?: in lines (\d+)-(\d+) of|,) (\d+)(?: lines)?\]\Z")
OURS_INSIDE = re.compile(r"\[readcache: unchanged in lines (\d+)-(\d+); changes exist outside")
OURS_DIFF = re.compile(r"\[readcache: \d+ lines changed of (\d+)\]")

CUT = re.compile(
    r"Warning: truncated output [^\n]*\nTotal output lines: \d+\n\n(.*)…\d+ \w+ truncated…(.*)\Z",
    re.DOTALL,
)
"""What Codex leaves of a long output."""

OURS_SHOW = ("search_code", "explore")
PLACE = re.compile(r"(?:^|  )(\S+\.\w+):(\d+)(?:-\d+)?(?:  |$)")
READS = {
    "Read": ("file_path",),
    "read": ("filePath", "path"),
    "read_file": ("absolute_path", "file_path"),
}
EDITS = ("Edit", "edit", "replace")
WRITES = ("Write", "write", "write_file")
PATHS = ("file_path", "filePath", "path", "absolute_path")
OLD, NEW = ("old_string", "oldString", "oldText"), ("new_string", "newString", "newText")
DONE = ("has been updated", "Edit applied", "Successfully", "created successfully", "Wrote file")
SHELLS = {
    "Bash": "command",
    "bash": "command",
    "exec_command": "cmd",
    "run_shell_command": "command",
}


class Wrong(AssertionError):
    """A word of ours that the request does not bear out."""


@dataclass
class Knowledge:
    """The lines of each file that a request shows, by number."""

    files: dict[str, dict[int, str]] = field(default_factory=dict)

    def show(self, path: str, first: int, rows: Sequence[str], *, whole: bool) -> None:
        known = {} if whole else self.files.get(path, {})
        known.update(enumerate(rows, start=first))
        self.files[path] = known

    def edit(self, path: str, old: str, new: str, *, every: bool) -> None:
        """The model's own edit, where the request shows the lines around it."""
        known = self.files.get(path)
        if not known:
            return
        runs = _runs(known)
        places = [first for first, rows in runs.items() if old in "\n".join(rows)]
        if not places or (len(runs) > 1 and (len(places) > 1 or every)):
            self.files[path] = {}  # the place is not known, so neither is what follows
            return
        rows = runs[places[0]]
        text = "\n".join(rows).replace(old, new, -1 if every else 1).split("\n")
        after: dict[int, str] = {}
        for first, kept in runs.items():
            moved = len(text) - len(rows) if first > places[0] else 0
            shown = text if first == places[0] else kept
            after.update(enumerate(shown, start=first + moved))
        self.files[path] = after


def _runs(known: dict[int, str]) -> dict[int, list[str]]:
    """The lines in unbroken runs, by their first numbers."""
    runs: dict[int, list[str]] = {}
    first = 0
    for number in sorted(known):
        first = first if number - 1 in known else number
        runs.setdefault(first, []).append(known[number])
    return runs


@dataclass
class Verdict:
    """What was judged, by kind."""

    counts: Counter[str] = field(default_factory=Counter)
    judged: list[str] = field(default_factory=list)

    def add(self, kind: str, text: str) -> None:
        self.counts[kind] += 1
        self.judged.append(f"{kind}: {text[:120]}")


def judge(requests: Sequence[Recorded], cwd: str) -> Verdict:
    """Judge all requests of one agent; raises `Wrong` at the first false word."""
    verdict = Verdict()
    snapshots: dict[str, dict[str, str]] = {}
    ever: dict[str, set[int]] = {}
    for request in requests:
        if request.plays:
            _judge_one(request, cwd, snapshots, ever, verdict)
    return verdict


def _judge_one(
    request: Recorded,
    cwd: str,
    snapshots: dict[str, dict[str, str]],
    ever: dict[str, set[int]],
    verdict: Verdict,
) -> None:
    items = shown(request)
    known, calls = Knowledge(), {}
    note = next((i.text for i in items if isinstance(i, Said) and RECOVERY in i.text), "")
    for item in items:
        if isinstance(item, Used):
            calls[item.id] = item
        elif isinstance(item, Said):
            _said(item, request, cwd, known, ever, snapshots, verdict)
        else:
            fresh = item.id not in snapshots
            disk = snapshots.setdefault(item.id, request.files)
            use = calls.get(item.id)
            if use is None:
                continue
            body, note_at, notes = _without_notes(item.text)
            item = Result(item.id, body)
            try:
                _result(use, item, cwd, disk, known, verdict if fresh else Verdict())
                if note_at:
                    said = Said("user", notes)
                    _said(said, request, cwd, known, ever, snapshots, verdict)
            except Wrong:
                path = _path_of(use, cwd)
                if fresh or path is None or os.path.relpath(path, cwd) not in note:
                    raise
    for path, lines in known.files.items():
        ever.setdefault(path, set()).update(lines)


def _without_notes(text: str) -> tuple[str, int, str]:
    """A result, and what was added behind it; agents without another place get it there."""
    found = [m.start() for pattern in (STALE, HELP) for m in pattern.finditer(text) if m.start()]
    at = min(found, default=0)
    return (text[:at].rstrip("\n"), at, text[at:]) if at else (text, 0, "")


def _result(
    use: Used,
    item: Result,
    cwd: str,
    disk: dict[str, str],
    known: Knowledge,
    verdict: Verdict,
) -> None:
    path = _path_of(use, cwd)
    text = _output(item.text)
    command = str(use.arguments.get("command", use.arguments.get("cmd", "")))
    if use.name.endswith(OURS_SHOW) or command.startswith("holdfast search "):
        _excerpts(text, cwd, disk, known)
        return
    if path is None:
        return
    rows = _disk_rows(disk, path)
    if use.name in EDITS:
        if any(one in item.text for one in DONE) and "error" not in item.text[:40].lower():
            for one in use.arguments.get("edits", [use.arguments]):
                every = any(one.get(name) is True for name in ("replace_all", "replaceAll"))
                known.edit(path, _first(one, OLD), _first(one, NEW), every=every)
        return
    if use.name in WRITES:
        if any(one in item.text for one in DONE):
            known.show(path, 1, str(use.arguments["content"]).split("\n"), whole=True)
        return
    if use.name == "apply_patch":
        if "Success." in item.text:
            old, new = _patched(str(use.arguments["input"]))
            known.edit(path, old, new, every=False)
        return
    numbered = use.name in READS and "path" not in use.arguments  # pi prints the plain text
    plain = _unnumbered(text) if numbered else text
    if plain.startswith("[readcache: "):
        _own_short(plain, path, rows, known)
        verdict.add("readcache", plain)
        return
    if MARK in plain.split("\n", 1)[0]:
        _short(plain, text, path, rows, known, verdict, numbered=numbered)
    elif plain.startswith(OWN_UNCHANGED):
        span = _span_of(use, len(rows))
        _held(known, path, rows, *span, "the agent's own unchanged")
        verdict.add("own unchanged", plain)
    else:
        _shown_text(use, text, path, rows, known, numbered=numbered)


def _excerpts(text: str, cwd: str, disk: dict[str, str], known: Knowledge) -> None:
    """Lines of files that an answer of ours prints, those that are whole and under their number.

    A heading names the file and its lines. Below it each line has its number, or they follow each
    other from the first one on.
    """
    path, number = "", 0
    for line in text.split("\n"):
        if found := PLACE.search(line):
            path, number = os.path.normpath(os.path.join(cwd, found[1])), int(found[2])
            continue
        rows = _disk_rows(disk, path)
        with_number = re.match(r"(\d+) (.*)\Z", line)
        if with_number and int(with_number[1]) <= len(rows):
            at, row = int(with_number[1]), with_number[2]
        else:
            at, row, number = number, line, number + 1
        if 0 < at <= len(rows) and rows[at - 1] == row:
            known.files.setdefault(path, {})[at] = row


def _shown_text(
    use: Used, text: str, path: str, rows: list[str], known: Knowledge, *, numbered: bool
) -> None:
    """A result of the agent's own, as it is."""
    if numbered:
        found = [NUMBERED.match(line) for line in text.split("\n")]
        pairs = {int(m[1]): m[2] for m in found if m is not None}
        if pairs:
            whole = "offset" not in use.arguments and "limit" not in use.arguments
            if whole:
                known.files[path] = {}
            known.files.setdefault(path, {}).update(pairs)
        return
    if use.name in READS:
        first, _ = _span_of(use, len(rows))
        shown = text.partition("\n\n[")[0].split("\n")
        whole = "offset" not in use.arguments and "limit" not in use.arguments
        known.show(path, first, shown, whole=whole)
        return
    span = _shell_span(str(use.arguments[SHELLS[use.name]]), len(rows))
    if span is not None and (match := CUT.match(text)):
        # The rows at the cut may be in part; the others are judged by the file.
        head, tail = match[1].split("\n")[:-1], match[2].rstrip("\n").split("\n")[1:]
        for first, shown in ((span[0], head), (span[1] - len(tail) + 1, tail)):
            if rows[first - 1 : first - 1 + len(shown)] == shown:
                known.show(path, first, shown, whole=False)
        return
    lines = text.rstrip("\n").split("\n")
    if OURS.match(str(use.arguments[SHELLS[use.name]])):
        lines = [re.sub(r"^\d+ ?", "", line) for line in lines]
    if span is not None and [r.rstrip() for r in rows[span[0] - 1 : span[1]]] == [
        line.rstrip() for line in lines
    ]:
        known.show(path, span[0], rows[span[0] - 1 : span[1]], whole=span == (1, len(rows)))


def _short(
    plain: str,
    text: str,
    path: str,
    rows: list[str],
    known: Knowledge,
    verdict: Verdict,
    *,
    numbered: bool,
) -> None:
    head = plain.split("\n", 1)[0]
    if match := UNCHANGED.match(head):
        first, last = int(match[1]), int(match[2] or match[1])
        _held(known, path, rows, first, last, head)
        verdict.add("unchanged", head)
    elif match := DIFF.match(head):
        first, last = int(match[1]), int(match[2] or match[1])
        _apply(known, path, rows, first, last, plain.split("\n")[1:])
        verdict.add("diff", head)
    elif match := ONLY.match(head):
        new_first, new_last, first, last = map(int, match.groups())
        for line in text.split("\n")[1:]:
            found = NUMBERED.match(line)
            if found is None:
                raise Wrong(f"a line without a number: {line!r}")
            known.files.setdefault(path, {})[int(found[1])] = found[2]
        if new_last - new_first + 1 != text.count("\n"):
            raise Wrong(f"not the lines it names: {head}")
        _held(known, path, rows, first, last, head)
        verdict.add("unseen", head)
    elif match := RESTORED.match(head):
        pairs = [NUMBERED.match(line) for line in text.split("\n")[1:]]
        if match[1]:
            known.files[path] = {}
        known.files.setdefault(path, {}).update({int(m[1]): m[2] for m in pairs if m is not None})
        verdict.add("restored", head)
    elif match := UNSEEN.match(head):
        first, last = int(match[1]), int(match[2] or match[1])
        _pieces(known, path, plain.split("\n")[1:])
        _held(known, path, rows, first, last, head)
        verdict.add("unseen", head)
    elif match := FOCUSED.match(head):
        _folds(known, path, rows, plain.split("\n")[1:], int(match[1]), int(match[2]))
        verdict.add("focused", head)
    else:
        raise Wrong(f"not understood: {head}")


def _folds(
    known: Knowledge, path: str, rows: list[str], lines: list[str], total: int, shown: int
) -> None:
    """A focused answer: every line of the file is shown as it is, or in a fold; nothing else."""
    at = 0
    seen: dict[int, str] = {}
    while lines:
        match = re.fullmatch(r"\[(\d+)(?:-(\d+))?(:| folded: .*)\]", lines.pop(0))
        if match is None or int(match[1]) != at + 1:
            raise Wrong(f"a focused answer is broken after line {at}")
        first, at = int(match[1]), int(match[2] or match[1])
        if match[3] == ":":
            part, lines = lines[: at - first + 1], lines[at - first + 1 :]
            if part != rows[first - 1 : at]:
                raise Wrong(f"{path}:{first}-{at} is not what is on disk")
            seen.update(enumerate(part, start=first))
    if at != total or len(seen) != shown or total not in (len(rows), len(rows) - 1):
        raise Wrong(f"a focused answer of {at} lines, {len(seen)} shown")
    known.files[path] = seen


def _own_short(text: str, path: str, rows: list[str], known: Knowledge) -> None:
    """An answer of our own read."""
    head, *rest = text.split("\n")
    if found := OURS_SAME.match(head):
        first, last = int(found[1] or 1), int(found[2] or found[3])
        if int(found[3]) != len(rows):
            raise Wrong(f"{head} for a file of {len(rows)} lines")
        _held(known, path, rows, first, last, head)
    elif found := OURS_INSIDE.match(head):
        _held(known, path, rows, int(found[1]), int(found[2]), head)
    elif OURS_DIFF.match(head):
        _apply(known, path, rows, 1, len(rows), rest[2:])
    else:
        raise Wrong(f"not understood: {head}")


def _held(known: Knowledge, path: str, rows: list[str], first: int, last: int, what: str) -> None:
    held = known.files.get(path, {})
    for number in range(first, min(last, len(rows)) + 1):
        text = rows[number - 1]
        if number == len(rows) and text == "":
            continue  # what follows the last newline
        if held.get(number) != text:
            raise Wrong(
                f"{what}\n{path}:{number} is {text!r} on disk, "
                f"the request shows {held.get(number)!r}"
            )


def _apply(
    known: Knowledge, path: str, rows: list[str], first: int, last: int, lines: list[str]
) -> None:
    """Apply a diff to what is held, and compare."""
    held = dict(known.files.get(path, {}))
    hunks: list[tuple[int, list[str], list[str]]] = []
    for line in lines:
        if match := HUNK.match(line):
            hunks.append((int(match[1]), [], []))
            continue
        if not hunks:
            raise Wrong(f"a diff without a place: {line!r}")
        _, old, new = hunks[-1]
        if line[:1] in (" ", "-"):
            old.append(line[1:])
        if line[:1] in (" ", "+"):
            new.append(line[1:])
    for start, old, new in reversed(hunks):
        for at, text in enumerate(old):
            if held.get(start + at) != text:
                raise Wrong(f"the diff removes {path}:{start + at} {text!r}, not in the request")
        delta = len(new) - len(old)
        moved = {}
        for number, text in held.items():
            if number < start:
                moved[number] = text
            elif number >= start + len(old):
                moved[number + delta] = text
        moved.update(enumerate(new, start=start))
        held = moved
    known.files[path] = held
    _held(known, path, rows, first, last, "a diff")


def _pieces(known: Knowledge, path: str, lines: list[str]) -> None:
    held, out, at = known.files.get(path, {}), {}, 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if match := re.match(r"\[(\d+)(?:-(\d+))?:\]\Z", line):
            for number in range(int(match[1]), int(match[2] or match[1]) + 1):
                out[number] = lines[at]
                at += 1
        elif match := re.match(
            r"\[(\d+)(?:-(\d+))? as you have them(?:, there numbered (\d+)-\d+)?\]\Z", line
        ):
            first, last = int(match[1]), int(match[2] or match[1])
            before = int(match[3] or first)
            for number in range(first, last + 1):
                text = held.get(before + number - first)
                if text is None:
                    raise Wrong(f"{path}:{number} is named as held and not in the request")
                out[number] = text
        else:
            raise Wrong(f"not understood: {line!r}")
    known.files[path] = {**held, **out}


def _said(
    item: Said,
    request: Recorded,
    cwd: str,
    known: Knowledge,
    ever: dict[str, set[int]],
    snapshots: dict[str, dict[str, str]],
    verdict: Verdict,
) -> None:
    text = item.text
    key = f"said:{text[:4000]}"
    fresh = key not in snapshots
    disk = snapshots.setdefault(key, request.files)
    if item.role == "assistant":
        return
    if "Result of calling the Read tool" in text:
        _attached(text, known)
    out = verdict if fresh else Verdict()
    notices = [*STALE.finditer(text), *MODIFIED.finditer(text)]
    for match in sorted(notices, key=re.Match.start):
        if match.re is MODIFIED:
            _modified(match[1], text[match.end() :], known)
            continue
        _stale(os.path.join(cwd, match[1]), match[2], disk, known)
        out.add("stale", match[0])
    for match in HELP.finditer(text):
        _help(text[match.start() :], cwd, disk)
        out.add("help", match[0])
    if RECOVERY in text:
        _recovery(text, cwd, disk, ever)
        out.add("recovery", text[text.index(RECOVERY) :])


def _attached(text: str, known: Knowledge) -> None:
    """Files that Claude Code attaches again after a compaction."""
    for part in text.split("Called the Read tool with the following input: ")[1:]:
        path = re.match(r'\{"file_path":"([^"]+)"\}', part)
        if path is None:
            continue
        rows = {}
        for line in part.split("\n")[2:]:
            found = NUMBERED.match(line)
            if found is None:
                break
            rows[int(found[1])] = found[2]
        known.files[path[1]] = rows


def _modified(path: str, text: str, known: Knowledge) -> None:
    """The lines that Claude Code shows after another program changed a file."""
    for line in text.split("\n")[1:]:
        found = NUMBERED.match(line)
        if found is not None:
            known.show(path, int(found[1]), [found[2]], whole=False)
        elif line != "...":
            break


def _stale(path: str, said: str, disk: dict[str, str], known: Knowledge) -> None:
    rows, held = _disk_rows(disk, path), known.files.get(path, {})
    changed, _, tail = said.partition(" moved by ")
    spans = [(int(a), int(b or a)) for a, b in re.findall(r"(\d+)(?:-(\d+))?", changed)]
    differs = {
        number
        for number, text in held.items()
        if (number > len(rows) or rows[number - 1] != text)
        and not (text == "" and number > len(rows))
    }
    named = {n for first, last in spans for n in range(first, last + 1)}
    if not differs:
        raise Wrong(f"{path} is said to have changed, and no held line did")
    if not differs <= named:
        raise Wrong(f"{path}: {sorted(differs - named)} changed and are not named in {said!r}")
    if tail:
        first, last = spans[-1]
        shift = int(re.match(r"[+-]\d+", tail)[0])  # type: ignore[index]
        for number in range(first, last + 1):
            if number in held and rows[number + shift - 1] != held[number]:
                raise Wrong(f"{path}:{number} did not move by {shift}")


def _help(text: str, cwd: str, disk: dict[str, str]) -> None:
    name = re.search(r"(?:in|of) (\S+?)(?:;|,|\]| )", text)
    rows: list[str] | None = None
    if name is not None:
        rows = _disk_rows(disk, os.path.join(cwd, name[1]))
    for line in text.split("\n")[1:]:
        found = re.match(r" *(\d+)\t(.*)\Z", line)
        if found is None:
            continue
        if not rows or rows[int(found[1]) - 1] != found[2]:
            raise Wrong(f"help shows {line!r}, which is not on disk")


def _recovery(text: str, cwd: str, disk: dict[str, str], ever: dict[str, set[int]]) -> None:
    body = text[text.index(RECOVERY) :].split("\n\n")[0]
    if len(body.encode()) > 400 * 4:
        raise Wrong(f"a recovery note of {len(body.encode())} bytes")
    for line in body.split("\n")[1:]:
        match = re.match(r"- (\S+): (?:lines ([0-9, …-]+)|all(?: \d+)? lines)", line)
        if match is None:
            if not re.match(r"- and \d+ more files?", line):
                raise Wrong(f"not understood: {line!r}")
            continue
        path = os.path.normpath(os.path.join(cwd, match[1]))
        if path not in ever:
            raise Wrong(f"{path} is listed as seen, and no request showed it")


# calls


def _path_of(use: Used, cwd: str) -> str | None:
    """The file that a call reads or edits; None for any other call."""
    if use.name in READS or use.name in EDITS or use.name in WRITES:
        path = _first(use.arguments, PATHS)
        return os.path.normpath(os.path.join(cwd, path)) if path else None
    if use.name == "apply_patch":
        match = re.search(r"\*\*\* Update File: (.*)", str(use.arguments["input"]))
        return os.path.normpath(os.path.join(cwd, match[1])) if match else None
    command = use.arguments.get(SHELLS.get(use.name, ""))
    if not isinstance(command, str):
        return None
    command = OURS.sub(r"sed -n '\2,\3p' \1", command)
    match = re.match(
        r"(?:cat|nl -ba|head -n \d+|tail -n \+?\d+|sed -n '[\d,$]+p') (\S+)\Z", command
    )
    return os.path.normpath(os.path.join(cwd, match[1])) if match else None


def _first(arguments: dict[str, Any], names: tuple[str, ...]) -> str:
    return next((str(arguments[name]) for name in names if name in arguments), "")


def _patched(patch: str) -> tuple[str, str]:
    """The old and the new text of a patch with one hunk."""
    rows = patch.split("\n")
    rows = rows[rows.index("@@") + 1 : rows.index("*** End Patch")]
    old = [row[1:] for row in rows if row[:1] in ("-", " ")]
    return "\n".join(old), "\n".join(row[1:] for row in rows if row[:1] in ("+", " "))


def _shell_span(command: str, total: int) -> tuple[int, int] | None:
    command = OURS.sub(r"sed -n '\2,\3p' \1", command)
    count = total - 1  # the last row is what follows the last newline
    if command.startswith("cat "):
        return 1, count
    if match := re.match(r"head -n (\d+)", command):
        return 1, min(int(match[1]), count)
    if match := re.match(r"tail -n \+(\d+)", command):
        return int(match[1]), count
    if match := re.match(r"tail -n (\d+)", command):
        return max(1, count - int(match[1]) + 1), count
    if match := re.match(r"sed -n '(\d+),(\d+)p'", command):
        return int(match[1]), min(int(match[2]), count)
    return None


def _span_of(use: Used, total: int) -> tuple[int, int]:
    first = int(use.arguments.get("offset") or 1)
    limit = use.arguments.get("limit")
    return first, total if limit is None else min(total, first + int(limit) - 1)


def _disk_rows(disk: dict[str, str], path: str) -> list[str]:
    return disk.get(path, "").split("\n")


def _unnumbered(text: str) -> str:
    """A result of a tool that numbers lines, without the numbers."""
    out = []
    for line in text.split("\n"):
        found = NUMBERED.match(line)
        out.append(found[2] if found else line)
    return "\n".join(out)


def _output(text: str) -> str:
    """What Codex puts around an output is not part of it."""
    head, mark, rest = text.partition("\nOutput:\n")
    return rest if mark and head.startswith(("Chunk ID:", "Wall time:")) else text
