"""How the result of an agent's own read is answered: as it is, or in short.

The agent's tool has already read the file. What it printed is compared with what the model can see
of that file (`view`), line by line:

    every line is held under its number    unchanged
    a held run was changed                 a diff of it
    only some lines are held               the lines that are not, and the numbers of the others
    nothing was ever seen of a long file   the file in focus, where the user asked for that
    anything else                          the agent's own result, untouched

Pure: the result, the bytes of the file and the view are values. `Pass` is always right; a `Short`
accounts for every line that the result had: each is printed, or named as one that the model was
shown with exactly this text, or, in focus, named as folded. So except for folds the model could
always reconstruct the whole result. Repeating a call that was answered in short prints the text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from holdfast.reading import focus as focus_of
from holdfast.reading import pieces as pieces_of
from holdfast.reading.events import FOLDED, Piece, Pieced
from holdfast.reading.focus import Focus
from holdfast.reading.shell import FileRead
from holdfast.reading.view import View

Kind = Literal["unchanged", "diff", "unseen", "restored", "focused"]

Focuser = Callable[[str, Sequence[str]], Focus | None]
"""The parts of a file with these lines; None when it is better read whole."""

PREFIX = "[holdfast: "
"""How every short answer begins. A result in a log that begins like this, without a record of ours,
proves nothing."""

AGAIN = "same call again prints all"
"""The default hint how to get the text: repeat the call."""

WORTH = 0.9
"""A short answer is sent only up to this share of the text: a longer one reads worse."""
WORTH_BYTES = 64
DIFF_WORTH, DIFF_EXTRA_BYTES = 1.2, 160
"""How much longer a diff may be than the unseen lines alone."""
RESULT_BYTES_MAX = 2 << 20
CONTEXT = 3


@dataclass(frozen=True, slots=True)
class Result:
    """What an agent's own tool printed: lines of one file under their numbers."""

    path: str
    first: int
    rows: tuple[str, ...]
    size_bytes: int
    """The bytes of the result as the model would see it, with numbers and notices."""
    row_bytes: int = 0
    """The bytes that the agent adds to each row it prints, also to our rows."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the answer depends on in addition to the text."""

    horizon: int | None = None
    """How many bytes back a line may have been shown and still count; None for any."""
    now: int = 0
    """How many bytes the model has been shown."""
    again: str = AGAIN
    """The hint that tells this agent how to get the text again."""
    repeat_prints: bool = True
    """Whether repeating a call that was answered in short prints the text."""
    diffs: bool = True
    moved: bool = True
    """Whether lines that are held under other numbers may be named by those numbers."""
    focuser: Focuser | None = None
    """Folds a whole first read. Set only for such a read, without a range."""


@dataclass(frozen=True, slots=True)
class Pass:
    """Leave the agent's own result as it is."""

    why: str


@dataclass(frozen=True, slots=True)
class Short:
    """Send `text` instead of the result; `record` counts once the log shows the text."""

    kind: Kind
    text: str
    record: Pieced
    pieces: tuple[pieces_of.Run, ...]
    """`text` in parts, for an agent that numbers the rows it prints."""
    saved_bytes: int


Decision = Pass | Short


def decide(
    view: View, result: Result, data: bytes, digest: str, options: Options | None = None
) -> Decision:
    """The shortest answer that is provably true, else `Pass`.

    `data` is the file's bytes, read after the result was made, and `digest` their digest; the
    caller stores them before it sends a short answer, because the record refers to them.
    """
    options = options or Options()
    why = _trouble(result, data)
    if why is not None:
        return Pass(why)
    result = without_end(result, data)
    rows = result.rows
    live = view.live(options.now, options.horizon)
    last = result.first + len(rows) - 1
    at_end = last >= data.count(b"\n") + (not data.endswith(b"\n"))
    whole = result.first == 1 and at_end
    if options.focuser is not None and whole:
        short = _focused(result, digest, options, options.focuser)
        if short is not None:
            return short
    if not live:
        return Pass("nothing of this file is in the context")
    if options.repeat_prints and view.asked_again(result.first, last, digest):
        return Pass("the same lines were answered in short just before")
    runs = pieces_of.align(live, result.first, rows, moved=options.moved)
    shorter = at_end and any(number > last and row for number, row in live.items())
    kind, text, shown = _worded(live, runs, result, options, shorter=shorter)
    record = Pieced(
        result.path,
        tuple(Piece(run.first, len(run.rows), run.before) for run in shown),
        digest,
        whole,
    )
    cost = len(text.encode("utf-8", "surrogatepass")) + result.row_bytes * (text.count("\n") + 1)
    saved = result.size_bytes - cost
    if saved < WORTH_BYTES or saved < (1 - WORTH) * result.size_bytes:
        return Pass("a short answer would not be shorter")
    return Short(kind, text, record, runs, saved)


def without_end(result: Result, data: bytes) -> Result:
    """The result without the empty row that some tools print after the last newline."""
    last = result.first + len(result.rows) - 1
    if len(result.rows) < 2 or result.rows[-1] or not data.endswith(b"\n"):
        return result
    return replace(result, rows=result.rows[:-1]) if last > data.count(b"\n") else result


def _focused(result: Result, digest: str, options: Options, focuser: Focuser) -> Short | None:
    """The file in focus; None when folding it is not worth it."""
    focus = focuser(result.path, result.rows)
    if focus is None or not focus.folds:
        return None
    text = focus_of.to_text(result.rows, focus, options.again)
    pieces = tuple(
        Piece(part.first, part.last - part.first + 1, None if part.title is None else FOLDED)
        for part in focus.parts
    )
    cost = len(text.encode("utf-8", "surrogatepass")) + result.row_bytes * (text.count("\n") + 1)
    saved = result.size_bytes - cost
    if saved < (1 - focus_of.WORTH) * result.size_bytes:
        return None
    record = Pieced(result.path, pieces, digest, whole=True)
    return Short("focused", text, record, (), saved)


def holds(view: View, first: int, rows: Sequence[str], options: Options) -> bool:
    """Whether every one of these lines is held under its number."""
    live = view.live(options.now, options.horizon)
    return all(live.get(number) == row for number, row in enumerate(rows, start=first))


def of_shell(read: FileRead, output: str, data: bytes, *, trimmed: bool = False) -> Result | None:
    """The result of a shell read; None unless it is exactly what the file gives now.

    `trimmed` for agents that cut blank lines off the start and white space off the end.
    """
    rows = shown_rows(data)
    if rows is None:
        return None
    if rows and rows[-1] == "":
        rows.pop()
    run = read.lines(len(rows)) if rows else None
    if run is None:
        return None
    expected = "\n".join(read.output(rows))
    if trimmed:
        if output.strip() != expected.strip() or expected[:1] in ("\n", ""):
            return None
    elif output.removesuffix("\n") != expected:
        return None
    size = len(output.encode("utf-8", "surrogatepass"))
    lines = tuple(rows[run.first - 1 : run.last])
    return Result(read.path, run.first, lines, size)


def shown_rows(data: bytes) -> list[str] | None:
    """The lines of a file, cut at newlines only; None when it is not UTF-8 text."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text.split("\n")


def _trouble(result: Result, data: bytes) -> str | None:
    """Why this result cannot be shortened; None if it can."""
    if not result.rows or result.first < 1:
        return "the result has no lines"
    if result.rows[0].startswith(PREFIX):
        return "the result looks like one of our own answers"
    if len(data) > RESULT_BYTES_MAX:
        return "the file is too large"
    rows = shown_rows(data)
    if rows is None:
        return "the file is not UTF-8 text"
    if tuple(rows[result.first - 1 : result.first - 1 + len(result.rows)]) != result.rows:
        return "the result is not what the file holds now"
    return None


def _worded(
    live: Mapping[int, str],
    runs: tuple[pieces_of.Run, ...],
    result: Result,
    options: Options,
    *,
    shorter: bool,
) -> tuple[Kind, str, tuple[pieces_of.Run, ...]]:
    """The answer, and the runs that it shows and names. `shorter`: the model holds lines after the
    end of the file."""
    last = result.first + len(result.rows) - 1
    where = f"lines {result.first}-{last}" if last > result.first else f"line {last}"
    ending = f"; the file ends at line {last} now" if shorter else ""
    close = f"{ending}; {options.again}]"
    if len(runs) == 1 and runs[0].before == runs[0].first:
        return "unchanged", f"{PREFIX}{where} unchanged, as you have them{close}", runs
    unseen = _unseen(runs, f"{PREFIX}{where}, only what you do not have{close}")
    if options.diffs:
        diff = pieces_of.diff(live, runs, CONTEXT)
        if diff is not None and _is_change(runs, diff):
            head = f"{PREFIX}{where} as you have them, with this diff{close}"
            text = "\n".join((head, *diff.rows))
            # A diff also shows removed lines, which is worth only this many extra bytes.
            if len(text) <= DIFF_EXTRA_BYTES + DIFF_WORTH * len(unseen):
                return "diff", text, diff.runs
    return "unseen", unseen, runs


def _is_change(runs: tuple[pieces_of.Run, ...], diff: pieces_of.Diff) -> bool:
    """Whether held lines were removed or moved; otherwise the result only has more lines."""
    moved = any(run.before not in (None, run.first) for run in runs)
    return moved or any(row.startswith("-") for row in diff.rows)


def _unseen(runs: tuple[pieces_of.Run, ...], head: str) -> str:
    out = [head]
    for run in runs:
        last = run.first + len(run.rows) - 1
        numbers = f"{run.first}-{last}" if last > run.first else f"{last}"
        if run.before is None:
            out += [f"[{numbers}:]", *run.rows]
        elif run.before == run.first:
            out.append(f"[{numbers} as you have them]")
        else:
            before = f"{run.before}-{run.before + len(run.rows) - 1}"
            out.append(f"[{numbers} as you have them, there numbered {before}]")
    return "\n".join(out)
