"""The verbs: read, refresh, status, explain, context.

A `Reader` serves one working directory. It reads the file once, asks the log what its session
proves, lets `answer` decide, keeps the text for later comparisons, and remembers what it answered
at the current leaf. It remembers nothing else that trust could depend on.
"""

from __future__ import annotations

import copy
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from holdfast.errors import ReadingError
from holdfast.files.boundary import OutsideWorkspace
from holdfast.reading import disk, images, javascript, native, paths, savings
from holdfast.reading import focus as focus_of
from holdfast.reading import scope as scopes
from holdfast.reading.answer import Case, Current, Policy, lines_of, stored_text_rows
from holdfast.reading.baseline import Dialect
from holdfast.reading.budget import Budget
from holdfast.reading.context import ContextMap, HeldFile, held_file, held_lines
from holdfast.reading.errors import Aborted, BadArgument, Unreadable
from holdfast.reading.events import Refreshed
from holdfast.reading.explain import Explanation, NeverKept, explain
from holdfast.reading.focus import Presets
from holdfast.reading.native import Focuser, shown_rows
from holdfast.reading.objects import AGE_MAX_S, Collected, Objects
from holdfast.reading.paths import Place, Request, Target
from holdfast.reading.recent import Recent
from holdfast.reading.result import Answer
from holdfast.reading.scope import WHOLE, Lines, Scope
from holdfast.reading.sensitive import Sensitive
from holdfast.reading.session_log import CompactionHistory, SessionLog, has_shown_lines
from holdfast.reading.status import Invalidated, Status
from holdfast.reading.tree import NO_ENTRY, Doubt, Evidence, Tree
from holdfast.reading.trust import Holdings, Ledger, Overlay, choose_base, is_stale
from holdfast.reading.unlogged_answers import UnloggedAnswers

FOCUS_AGAIN = "the same read without focus prints all"
DIFF_BUDGET_S = 0.2
CONTEXT_BUDGET_S = 1.0
OVERLAYS_MAX = 64
GONE = ("ENOENT", "ENOTDIR", "EISDIR", "ELOOP")
"""Error codes for a file that does not exist."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a reader."""

    policy: Policy = field(default_factory=Policy)
    sensitive: Sensitive = field(default_factory=Sensitive)
    diff_budget_s: float = DIFF_BUDGET_S
    context_budget_s: float = CONTEXT_BUDGET_S
    focus: Mapping[str, Presets] = field(default_factory=dict)
    """For which agents whole first reads are folded; `*` for all."""
    trouble: str | None = None
    """Why the settings could not be read: then every read is plain, and nothing is kept."""

    def focus_of(self, agent: str) -> Presets | None:
        """From how many lines on this agent's whole first reads are folded; None for never."""
        return self.focus.get(agent) or self.focus.get("*")


class Reader:
    """Answers reads below one working directory."""

    def __init__(
        self,
        place: Place,
        objects: Objects,
        *,
        now_ms: Callable[[], int],
        monotonic: Callable[[], float],
        settings: Settings | None = None,
        read_file: Callable[[str], tuple[bytes, str]] = disk.read_once,
    ) -> None:
        self.place, self.objects = place, objects
        self.settings = settings or Settings()
        self._now_ms, self._monotonic = now_ms, monotonic
        self._read_file = read_file
        self._recent = Recent()
        self._unlogged = UnloggedAnswers()
        self._overlays: OrderedDict[tuple[str, str], Overlay] = OrderedDict()
        self._folded: set[tuple[str, str]] = set()
        """Sessions and files that were folded: the second whole read prints everything."""
        self._turn = threading.RLock()

    def with_file_access(self, read_file: Callable[[str], tuple[bytes, str]]) -> Reader:
        """The same reader, sharing everything it remembers, that reads files in another way."""
        other = copy.copy(self)
        other._read_file = read_file
        return other

    def with_dialect(self, dialect: Dialect) -> Reader:
        """The same reader, sharing everything it remembers, with another agent's line limit."""
        other = copy.copy(self)
        policy = replace(self.settings.policy, dialect=dialect)
        other.settings = replace(self.settings, policy=policy)
        return other

    def with_pages(self, page_bytes: int) -> Reader:
        """The same reader with shorter pages, for an agent that cuts longer results."""
        other = copy.copy(self)
        policy = replace(self.settings.policy, page_bytes=page_bytes)
        other.settings = replace(self.settings, policy=policy)
        return other

    def only_unseen(self) -> Reader:
        """The same reader, sharing everything it remembers, that leaves out the lines of a run that
        were shown before: see `Policy.unseen`. Only for a log that tracks single lines."""
        other = copy.copy(self)
        policy = replace(self.settings.policy, unseen=True)
        other.settings = replace(self.settings, policy=policy)
        return other

    def read(
        self,
        request: Request,
        log: SessionLog | None = None,
        aborted: Callable[[], bool] = lambda: False,
        focuser: Focuser | None = None,
    ) -> Answer:
        """Answer one read; in full without a log, or with one that proves nothing.

        The caller delivers the answer and then records it in the log. Calls from several threads
        take turns. With a `focuser` a whole first read may be folded; such an answer claims nothing
        about the context, so no line of it counts as held.
        """
        with self._turn:
            return self._read(request, log, aborted, focuser)

    def _read(
        self,
        request: Request,
        log: SessionLog | None,
        aborted: Callable[[], bool],
        focuser: Focuser | None,
    ) -> Answer:
        _check(aborted)
        target = paths.locate(request, self.place)
        current = self._load(target)
        if isinstance(current, Answer):
            return current
        _check(aborted)
        evidence = Doubt("no session") if log is None else log.evidence()
        case = self._case(request, target, current, evidence, log)
        key, ledger = (str(getattr(log, "path", "")), target.path), case.holdings.ledger
        if case.policy.unseen and self._unlogged.with_other_text(key, current.digest, ledger):
            case.policy = replace(case.policy, unseen=False)
        answer = case.answer()
        _check(aborted)
        if focuser is not None and answer.mode == "full" and not request.bypass_cache:
            folded = self._focused(target, current, log, focuser)
            if folded is not None:
                return folded
        if answer.meta is not None and log is not None:
            if has_shown_lines(log):
                self._unlogged.add(key, current.digest, ledger)
            self.objects.keep(current.data, current.digest, self._now_ms() / 1000)
            if case.holdings.overlay is not None and not log.counts_when_recorded:
                case.holdings.overlay.record(target.path, answer.meta.scope, current.digest)
        return answer

    def _focused(
        self, target: Target, current: Current, log: SessionLog | None, focuser: Focuser
    ) -> Answer | None:
        """The file in focus; None for a range, and when it was folded before."""
        if target.offset is not None or target.limit is not None:
            return None
        key = (str(getattr(log, "path", "")), target.path)
        rows = shown_rows(current.data)
        if rows is None or (log is not None and key in self._folded):
            return None
        if rows[-1] == "":
            rows.pop()
        parts = focuser(target.path, rows)
        text = None if parts is None else focus_of.to_text(rows, parts, FOCUS_AGAIN)
        if (
            text is None
            or len(text.encode("utf-8", "surrogatepass")) > self.settings.policy.page_bytes
        ):
            return None
        if log is not None:
            self._folded.add(key)
        return Answer(text)

    def data(self, request: Request) -> tuple[Target, bytes]:
        """The file that a request names and its bytes, of which nothing is kept.

        Raises the same errors as reading the file.
        """
        target = paths.locate(request, self.place)
        return target, self._read_file(target.path)[0]

    def current(self, path: str) -> Current | Answer:
        """The file at an absolute path as it is now, or the answer if its text is never kept.

        Raises the same errors as reading the file.
        """
        with self._turn:
            return self._load(Target(path, path, None, None))

    def keep(self, current: Current) -> bool:
        """Store a text for later comparison; False when that failed."""
        return self.objects.keep(current.data, current.digest, self._now_ms() / 1000)

    def _load(self, target: Target) -> Current | Answer:
        """The file, or the whole answer when it is not text we keep."""
        data, name = self._read_file(target.path)
        mime = images.sniff(data[: images.SNIFFED_BYTES])
        if mime is not None:
            picture = images.show(data, mime)
            return Answer(picture.text, picture=picture)
        sensitive = self.settings.sensitive
        recent = self._recent.known(target.path, data)  # Secrets were looked for in it then.
        if (
            self.settings.trouble is not None
            or sensitive.covers(target.path)
            or (name != target.path and sensitive.covers(name))
            or (recent is None and sensitive.covers_text(target.path, data))
        ):
            # Bypasses `_recent`: nothing of a sensitive file is kept, not even in memory.
            plain = self._case(Request(target.typed), target, Current(data, ""), Doubt("sensitive"))
            answer = plain.answer()
            return Answer(answer.text, None, answer.truncation)
        return recent or self._recent.add(target.path, data)

    def _case(
        self,
        request: Request,
        target: Target,
        current: Current,
        evidence: Evidence | Doubt,
        log: SessionLog | None = None,
    ) -> Case:
        budget = Budget(self.settings.diff_budget_s, self._monotonic)
        policy = self.settings.policy
        if policy.unseen and not has_shown_lines(log):
            policy = replace(policy, unseen=False)  # the printed lines would not count as shown
        return Case(
            current,
            target,
            self._holdings(evidence, log),
            self.objects.load,
            policy,
            bypass=request.bypass_cache is True,
            expired=budget,
            horizon=None if isinstance(evidence, Doubt) else evidence.horizon,
            shown_bytes=0 if isinstance(evidence, Doubt) else evidence.seen_bytes,
        )

    def _holdings(self, evidence: Evidence | Doubt, log: SessionLog | None) -> Holdings:
        if isinstance(evidence, Doubt):
            return Holdings(Ledger())
        # Copies of a session share its id, but each file is another conversation.
        key = (evidence.session, str(getattr(log, "path", "")))
        overlay = self._overlays.get(key)
        if overlay is None:
            overlay = self._overlays[key] = Overlay()
            while len(self._overlays) > OVERLAYS_MAX:
                self._overlays.popitem(last=False)
        overlay.move(evidence.position, branch_point=evidence.branch_point)
        # No overlay at a branch point: what is read here may belong to either branch.
        return Holdings(evidence.ledger, None if evidence.branch_point else overlay)

    def holdings(self, log: SessionLog) -> Holdings:
        """What the model holds now, by the session's log and this turn's answers."""
        return self._holdings(log.evidence(), log)

    def holds(self, path: str, lines: Lines, log: SessionLog) -> bool:
        """Whether the model provably holds these lines of a file as they are on disk now.

        `path` is absolute. For answers that may point at text instead of repeating it.
        """
        with self._turn:
            try:
                current = self._load(Target(path, path, None, None))
            except (ReadingError, OutsideWorkspace):
                return False
            if (
                isinstance(current, Answer)
                or current.text is None
                or lines.last > current.lines_total
            ):
                return False
            evidence = log.evidence()
            holdings = self._holdings(evidence, log)
            rows = current.shown_lines(lines)
            if isinstance(evidence, Evidence) and not holdings.answered(path):
                view = evidence.ledger.view(path, self.objects.load)
                options = native.Options(horizon=evidence.horizon, now=evidence.seen_bytes)
                if native.holds(view, lines.first, rows, options):
                    return True
            scope = scopes.of(lines, current.lines_total)
            base = choose_base(holdings, path, scope, union=self.settings.policy.union)
            if base is None:
                return False
            same = base.digest == current.digest
            data = current.data if same else self.objects.load(base.digest)
            if data is None or lines_of(data, lines) != rows:
                return False
            texts = (stored_text_rows(data), stored_text_rows(current.data))
            if texts[0] is None or texts[1] is None:
                return same
            # Stale if the lines were shown with other text since, then changed back on disk.
            newer = is_stale(holdings, path, lines, base, (texts[0], texts[1]), self.objects.load)
            return not newer

    def context(self, log: SessionLog) -> ContextMap:
        """What the model holds of every file, and what the latest compaction took away."""
        with self._turn:
            evidence = log.evidence()
            if isinstance(evidence, Doubt):
                return ContextMap(doubt=evidence.why)
            deadline = self._monotonic() + self.settings.context_budget_s
            holdings = self._holdings(evidence, log)
            files = {
                path: self._held_file(path, holdings, deadline, evidence)
                for path in sorted(holdings.paths() | set(evidence.ledger.seen_paths()))
            }
            before = Holdings(before_compaction(log, evidence))
            lost = [
                self._held_file(path, before, deadline)
                for path in sorted(before.paths() | set(before.ledger.seen_paths()))
                if files.get(path) is None
            ]
            # Files of which most was held come first: read files before lines of a search.
            gone = sorted((file for file in lost if file is not None), key=lambda f: -f.tokens)
            return ContextMap(
                evidence.session,
                evidence.boundary,
                tuple(file for file in files.values() if file is not None),
                tuple(gone),
            )

    def _held_file(
        self, path: str, holdings: Holdings, deadline: float, evidence: Evidence | None = None
    ) -> HeldFile | None:
        there = True
        try:
            loaded = self._load(Target(path, path, None, None))
        except OutsideWorkspace:
            loaded = None
        except ReadingError as error:
            # A file that cannot be read, or is a picture now, still exists.
            loaded, there = None, isinstance(error, Unreadable) and error.code not in GONE
        current = loaded if isinstance(loaded, Current) else None
        ledger = holdings.ledger
        if ledger.is_seen_by_lines(path):
            horizon, now = (
                (None, 0) if evidence is None else (evidence.horizon, evidence.seen_bytes)
            )
            lines = ledger.view(path, self.objects.load).live(now, horizon)
            return held_lines(path, lines, current, there=there)
        return held_file(
            path,
            holdings.scopes(path),
            ledger.blocked(path),
            current,
            self.objects.load,
            lambda: self._monotonic() > deadline,
            there=there,
        )

    def forget(self) -> None:
        """Drop everything kept in memory, so that no later answer is shortened by it."""
        self._overlays.clear()
        self._recent.clear()

    def refresh(self, request: Request, log: SessionLog) -> Invalidated:
        """Declare the model's copy of a file or some lines insufficient."""
        target = paths.locate(request, self.place)
        scope = self._refresh_scope(target)
        log.refresh(Refreshed(target.path, scope), self._now_ms())
        self.forget()
        return Invalidated(target.typed, scope)

    def _refresh_scope(self, target: Target) -> Scope:
        offset, limit = target.offset, target.limit
        if offset is None and limit is None:
            return WHOLE
        for name, value in (("offset", offset), ("limit", limit)):
            if value is not None and not (javascript.is_integer(value) and value >= 1):
                shown = javascript.number(value)
                raise BadArgument(
                    f'Invalid {name} "{shown}". {name.capitalize()} must be a positive integer.'
                )
        try:
            data, _ = self._read_file(target.path)
        except (ReadingError, OutsideWorkspace):
            data = None
        current = None if data is None else Current(data, "")
        if current is not None and current.text is not None:
            lines = scopes.clamp(offset, limit, current.lines_total)
            if lines is not None:
                return scopes.of(lines, current.lines_total)
        if offset is None or limit is None:
            return WHOLE
        return Lines(int(offset), int(offset + limit - 1))

    def collect(self, logs: Iterable[SessionLog], age_max_s: float = AGE_MAX_S) -> Collected:
        """Delete stored texts that are long unused and that these sessions do not need."""
        live: set[str] = set()
        for log in logs:
            evidence = log.evidence()
            if isinstance(evidence, Evidence):
                ledger = evidence.ledger
                live.update(
                    t.digest for path in ledger.paths() for t in ledger.scopes(path).values()
                )
        return self.objects.collect(self._now_ms() / 1000, live, age_max_s)

    def status(self, log: SessionLog) -> Status:
        """What the session holds and has saved, and how much is kept on disk."""
        evidence = log.evidence()
        if isinstance(evidence, Doubt):
            return Status(0, 0, 0, 0, savings.estimate(()), self._store_stats(), evidence.why)
        holdings = self._holdings(evidence, log)
        files = holdings.paths()
        tree = log.tree
        leaf = _leaf(tree, evidence)
        window = list(tree.window(leaf))
        length = len(tree.path(leaf)) if leaf != NO_ENTRY else 0
        return Status(
            sum(len(holdings.scopes(path)) for path in files),
            len(files),
            len(window),
            length - len(window),
            savings.estimate(tree.served[at] for at in window if at in tree.served),
            self._store_stats(),
        )

    def _store_stats(self) -> str:
        try:
            stats = self.objects.stats()
        except OSError:
            return "unavailable"
        return f"{stats.count} objects, {javascript.binary_size(stats.size_bytes)}"

    def explain(self, request: Request, log: SessionLog | None) -> Explanation | NeverKept:
        """Explain how a read would be answered, without answering it."""
        target = paths.locate(request, self.place)
        current = self._load(target)
        if isinstance(current, Answer):
            return NeverKept(target.path)
        evidence = Doubt("no session") if log is None else log.evidence()
        return explain(self._case(request, target, current, evidence, log), evidence)


def _leaf(tree: Tree, evidence: Evidence) -> int:
    """The number of the evidence's leaf in the tree.

    A tree that is built for one leaf may not contain the leaf itself; then it is the last entry.
    """
    number = tree.number(evidence.leaf)
    return len(tree) - 1 if number == NO_ENTRY and evidence.leaf is not None else number


def before_compaction(log: SessionLog, evidence: Evidence) -> Ledger:
    """What was held when the session was last compacted."""
    if isinstance(log, CompactionHistory):
        return log.before_compaction() or Ledger()
    tree = log.tree
    barrier = tree.boundary(_leaf(tree, evidence))
    return Ledger() if barrier == NO_ENTRY else tree.ledger(tree.parents[barrier])


def _check(aborted: Callable[[], bool]) -> None:
    if aborted():
        raise Aborted
