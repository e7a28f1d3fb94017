"""Decides how a read is answered: in full, by a marker, or by a diff.

Pure: the file's bytes and the holdings are arguments; an older text is loaded, when needed, through
a function that is passed in. Every doubt leads to the baseline, which is always right.

The contract fixes the order of the checks. An answer claims only the lines it prints: a text cut at
the limits anchors the lines it shows, so `wanted` (the lines requested) and `printed` (the lines
the baseline would show) can differ.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from holdfast.reading import baseline, diff, javascript
from holdfast.reading import scope as scopes
from holdfast.reading.baseline import Baseline, Dialect
from holdfast.reading.events import Printed
from holdfast.reading.meta import Meta, Why
from holdfast.reading.native import Options, Result, Short, decide
from holdfast.reading.paths import Target
from holdfast.reading.result import Answer
from holdfast.reading.scope import Lines, Scope
from holdfast.reading.trust import Holdings, Trust, choose_base, is_stale


class Current:
    """The file as it is now, from one read of its bytes; derived values are cached."""

    __slots__ = ("_lines", "_printed", "data", "digest", "lines_total", "shown", "text")

    def __init__(self, data: bytes, digest: str) -> None:
        self.data = data
        self.digest = digest
        self.text = strict_text(data)
        """The text to compare, without the BOM; None when the bytes are not UTF-8."""
        plain = self.text is None or has_mark(data)
        self.shown = baseline.decode(data) if plain else (self.text or "")
        """The text that the baseline prints: with the BOM, invalid bytes replaced."""
        self.lines_total = baseline.count_lines(self.shown)
        self._lines: list[str] | None = None
        self._printed: dict[object, Lines | None] = {}

    @property
    def lines(self) -> list[str]:
        if self._lines is None:
            self._lines = (self.text or "").split("\n")
        return self._lines

    @property
    def rows(self) -> list[str] | None:
        """All lines as `stored_text_rows` has them, split once."""
        if self.text is None or has_mark(self.data):
            return stored_text_rows(self.data)
        return self.lines

    def shown_lines(self, lines: Lines) -> list[str]:
        """These lines as they are shown: the first with its byte order mark."""
        return _as_shown(self.lines, lines, self.data)

    def printed(self, target: Target, dialect: Dialect, bytes_max: int) -> Lines | None:
        """The lines the baseline would show for this request."""
        key = (target.offset, target.limit, dialect, bytes_max)
        if key not in self._printed:
            if len(self._printed) > 16:
                self._printed.clear()
            self._printed[key] = baseline.printed_lines(
                self.shown, self.lines_total, target.offset, target.limit, dialect, bytes_max
            )
        return self._printed[key]


def strict_text(data: bytes) -> str | None:
    """The text of UTF-8 bytes without a BOM, or None for anything else."""
    try:
        return data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError:
        return None


def stored_text_rows(data: bytes) -> list[str] | None:
    """All lines of UTF-8 bytes, the first with its byte order mark; None for anything else."""
    try:
        return data.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        return None


def has_mark(data: bytes) -> bool:
    """Whether the bytes begin with a byte order mark: it is shown, as part of the first line."""
    return data.startswith(codecs.BOM_UTF8)


def lines_of(data: bytes, lines: Lines) -> list[str] | None:
    """These lines of UTF-8 bytes as they are shown, as far as they exist; None if not UTF-8."""
    text = strict_text(data)
    if text is None:
        return None
    return _as_shown(text.split("\n"), lines, data)


def _as_shown(all_lines: list[str], lines: Lines, data: bytes) -> list[str]:
    rows = all_lines[lines.first - 1 : lines.last]
    if lines.first == 1 and has_mark(data):
        rows[0] = codecs.BOM_UTF8.decode() + rows[0]
    return rows


@dataclass(frozen=True, slots=True)
class Policy:
    """Options of the decision."""

    dialect: Dialect = Dialect.COUNTED
    page_bytes: int = baseline.BYTES_MAX
    """How much of a file one answer prints; less for agents that cut longer results."""
    union: bool = True
    """Answer a run of lines from several trusted runs that cover it together."""
    range_diffs: bool = False
    """Answer a changed run of lines with a diff of it."""
    trim_patches: bool = False
    """Trim white space off the end of a patch, as the reference does: it can lose blank lines."""
    unseen: bool = False
    """Where a run of lines would be sent in full, send only those that the model was not shown.

    Decided line by line, as for an agent's own reads. Never set where a contract fixes what is sent
    in this case, as pi's does."""


UNSEEN_AGAIN = "bypass_cache=true prints all"
"""The hint how to get the lines that an answer names without printing them."""


@dataclass(slots=True)
class Case:
    """One read to be decided."""

    current: Current
    target: Target
    holdings: Holdings
    load: Callable[[str], bytes | None]
    policy: Policy = field(default_factory=Policy)
    bypass: bool = False
    expired: Callable[[], bool] = lambda: False
    horizon: int | None = None
    """How many bytes back a line may have been shown and still count; None for any."""
    shown_bytes: int = 0
    """How many bytes the model has been shown."""

    def answer(self) -> Answer:
        """The shortest answer that is provably true, else the baseline.

        Raises BeyondEnd when the request begins past the last line.
        """
        current, target = self.current, self.target
        requested = scopes.clamp(target.offset, target.limit, current.lines_total)
        if current.text is None or requested is None:
            plain = self._render()
            return Answer(plain.text, None, plain.truncation)
        scope = scopes.of(requested, current.lines_total)
        if self.bypass:
            return self._full("bypass_cache")
        base = self._base(scope)
        if base is not None:
            return self._from(base, scope)
        printed = current.printed(target, self.policy.dialect, self.policy.page_bytes)
        if printed is None or printed == requested or self._is_blocked(scope):
            return self._unseen(scope, printed) or self._full("no_base_hash")
        # The limits would cut this text, so decide for the lines that would be shown.
        base = self._base(printed)
        return self._full("no_base_hash") if base is None else self._from(base, printed)

    def _unseen(self, scope: Scope, printed: Lines | None) -> Answer | None:
        """An answer with the lines that the model was not shown, and the numbers of the others.

        None unless the policy asks for it and it is possible and shorter. The metadata claims the
        longest run printed; other printed lines are kept singly, as they replace older ones.
        Lines are named only by the numbers they are held under: the mapping to other numbers would
        not be kept. If an answer of this turn that is not in the log yet may have shown other
        text for them, all lines are sent.
        """
        if not self.policy.unseen or not isinstance(scope, Lines) or self._is_blocked(scope):
            return None
        if self.holdings.answered(self.target.path):
            return None
        current, plain = self.current, self._render()
        if printed is None or plain.truncation is not None:
            return None
        rows = tuple(current.shown_lines(printed))
        body = "\n".join(rows)
        if not plain.text.startswith(body):
            return None
        size = len(body.encode("utf-8", "surrogatepass"))
        options = Options(
            self.horizon,
            self.shown_bytes,
            UNSEEN_AGAIN,
            repeat_prints=False,
            diffs=False,
            moved=False,
        )
        answer = decide(
            self.holdings.ledger.view(self.target.path, self.load),
            Result(self.target.path, printed.first, rows, size),
            current.data,
            current.digest,
            options,
        )
        if not isinstance(answer, Short) or answer.kind != "unseen":
            return None
        new = [run for run in answer.pieces if run.before is None]
        if not new:
            return None
        most = max(new, key=lambda run: len(run.rows))
        lines = Lines(most.first, most.first + len(most.rows) - 1)
        meta = self._meta("full", lines, None, Why("no_base_hash", base_found=False))
        printed_runs = tuple(Printed(self.target.path, run.first, run.rows) for run in new)
        return Answer(answer.text + plain.text[len(body) :], meta, printed=printed_runs)

    def _base(self, scope: Scope) -> Trust | None:
        """The text to answer from; None if the model has seen other text of these lines since."""
        path = self.target.path
        base = choose_base(self.holdings, path, scope, union=self.policy.union)
        if base is None:
            return None
        now = self.current.rows
        if base.digest == self.current.digest:
            rows = now
        else:
            data = self.load(base.digest)
            rows = None if data is None else stored_text_rows(data)
        if rows is None or now is None:
            return base
        stale = is_stale(self.holdings, path, scope, base, (rows, now), self.load)
        return None if stale else base

    def _is_blocked(self, scope: Scope) -> bool:
        return isinstance(scope, Lines) and self.holdings.is_blocked(self.target.path, scope)

    def _render(self) -> Baseline:
        target, policy = self.target, self.policy
        selected = (target.typed, target.offset, target.limit)
        return baseline.render(self.current.shown, *selected, policy.dialect, policy.page_bytes)

    def _full(self, reason: str) -> Answer:
        return self._plain("full", None, Why(reason, base_found=False))

    def _plain(self, mode: str, base: str | None, why: Why) -> Answer:
        """The baseline text, claiming the lines it shows."""
        plain = self._render()
        if plain.printed is None:
            return Answer(plain.text, None, plain.truncation)
        scope = scopes.of(plain.printed, self.current.lines_total)
        meta = self._meta(mode, scope, base, why)
        return Answer(plain.text, meta, plain.truncation)

    def _meta(self, mode: str, scope: Scope, base: str | None, why: Why) -> Meta:
        current = self.current
        first, last = scope if isinstance(scope, Lines) else (1, current.lines_total)
        return Meta(
            self.target.path,
            scope,
            current.digest,
            mode,
            current.lines_total,
            first,
            last,
            len(current.data),
            base,
            why,
        )

    def _from(self, base: Trust, scope: Scope) -> Answer:
        """Answer this scope from a base the model holds."""
        current, digest = self.current, base.digest
        if digest == current.digest:
            return self._marker(scope, digest, outside=False)
        data = self.load(digest)
        if data is None or strict_text(data) is None:
            return self._fallback(digest, Why("base_object_missing", True, object_found=False))
        if isinstance(scope, Lines):
            return self._lines_from(digest, data, scope)
        return self._whole_from(digest, data)

    def _marker(self, scope: Scope, digest: str, *, outside: bool) -> Answer:
        total = self.current.lines_total
        if not isinstance(scope, Lines):
            text = f"[readcache: unchanged, {total} lines]"
            return Answer(text, self._meta("unchanged", scope, digest, Why("hash_match", True)))
        run = f"{scope.first}-{scope.last}"
        if outside:
            text = f"[readcache: unchanged in lines {run}; changes exist outside this range]"
            why = Why("range_slice_unchanged", True, outside_changed=True)
        else:
            text = f"[readcache: unchanged in lines {run} of {total}]"
            why = Why("hash_match", True)
        return Answer(text, self._meta("unchanged_range", scope, digest, why))

    def _fallback(self, digest: str, why: Why) -> Answer:
        return self._plain("baseline_fallback", digest, why)

    def _lines_from(self, digest: str, base: bytes, lines: Lines) -> Answer:
        older, newer = lines_of(base, lines), self.current.shown_lines(lines)
        assert older is not None, "only UTF-8 text gets here"
        if older == newer:
            return self._marker(lines, digest, outside=True)
        if self.policy.range_diffs:
            answer = self._lines_diff(digest, older, newer, lines)
            if answer is not None:
                return answer
        return self._fallback(digest, Why("range_slice_changed", True, outside_changed=True))

    def _lines_diff(
        self, digest: str, older: list[str], newer: list[str], lines: Lines
    ) -> Answer | None:
        """A diff of just these lines, numbered as in the file; None when it is not worth it."""
        if len(older) != len(newer):
            return None
        old, new = "\n".join(older) + "\n", "\n".join(newer) + "\n"
        if max(len(old), len(new)) > diff.BYTES_MAX or len(newer) > diff.LINES_MAX:
            return None
        patch = diff.compute(
            old,
            new,
            self.target.typed,
            edits_max=diff.edits_worth_sending(len(newer)),
            expired=self.expired,
            lines_before=lines.first - 1,
        )
        if not isinstance(patch, diff.Patch) or not diff.is_useful(patch, old, new):
            return None
        total = self.current.lines_total
        text = (
            f"[readcache: {patch.changed} lines changed in lines"
            f" {lines.first}-{lines.last} of {total}]\n{patch.text}"
        )
        if not _fits(text):
            return None
        why = Why(
            "diff_emitted",
            True,
            diff_attempted=True,
            diff_bytes=patch.size_bytes,
            diff_changed=patch.changed,
        )
        return Answer(text, self._meta("diff", lines, digest, why))

    def _whole_from(self, digest: str, data: bytes) -> Answer:
        """A diff of the whole file as it is shown, if it passes every limit."""
        current, base = self.current, baseline.decode(data)
        largest = max(len(data), len(current.data))
        if largest > diff.BYTES_MAX:
            why = Why("diff_file_too_large_bytes", True, True, largest_bytes=largest)
            return self._fallback(digest, why)
        lines = max(baseline.count_lines(base), current.lines_total)
        if lines > diff.LINES_MAX:
            why = Why("diff_file_too_large_lines", True, True, lines_max=lines)
            return self._fallback(digest, why)
        if has_mark(data) != has_mark(current.data):
            # The reference compares texts without the mark and would send an empty diff.
            return self._fallback(digest, Why("diff_unavailable_or_empty", True, True))
        patch = diff.compute(
            base,
            current.shown,
            self.target.typed,
            edits_max=diff.edits_worth_sending(current.lines_total),
            expired=self.expired,
        )
        if patch is None or (isinstance(patch, diff.TooFar) and patch.out_of_time):
            return self._fallback(digest, Why("diff_unavailable_or_empty", True, True))
        if isinstance(patch, diff.TooFar):
            return self._fallback(digest, Why("diff_not_useful", True, True))
        if self.policy.trim_patches:
            patch = replace(patch, text=javascript.trim_end(patch.text))
        size = patch.size_bytes
        if not diff.is_useful(patch, base, current.shown):
            why = Why("diff_not_useful", True, True, diff_bytes=size)
            return self._fallback(digest, why)
        why = Why("diff_emitted", True, True, diff_bytes=size, diff_changed=patch.changed)
        text = f"[readcache: {patch.changed} lines changed of {current.lines_total}]\n{patch.text}"
        if not _fits(text):
            return self._fallback(digest, replace(why, reason="diff_payload_truncated"))
        meta = self._meta("diff", scopes.WHOLE, digest, why)
        return Answer(text, meta)


def _fits(text: str) -> bool:
    """Whether a payload stays within the limits of any result."""
    return (
        text.count("\n") + 1 <= diff.PAYLOAD_LINES_MAX
        and len(text.encode("utf-8")) <= diff.PAYLOAD_BYTES_MAX
    )
