"""Claude Code's transcripts: trust from what the model was shown, and from our own sidecar.

A transcript is a tree of lines. Each block of an assistant message is a line of its own, and the
results of parallel calls hang below their calls as siblings, so a walk along parents alone misses
some: results are collected by the id of their call, for every call on the path whose message got
any result there (a request is never sent with some results missing).

    compact_boundary        has no parent: the walk ends there by itself. Its logical parent, and
                            messages said to be preserved, are never used. A summary is one too
    microcompact_boundary   blanks results listed by call id, wherever its own line stands
    content-replacement     tells of results that were put into files, by call id, outside the tree
    a damaged line          may have been any of these: nothing before it counts
    Read results            anchor the lines whose numbered text is shown; the whole file, too,
                            when that is all of it
    edits, writes, Bash     say what is held line by line (`claude_results`)
    our own results         count when the sidecar knows the call and the text is the one we gave
    side chains             are other readers: left out, or alone when asked for

The leaf is the pending call. Without its id the leaf is a guess (after a rewind nothing new may
have been written yet), and a guess proves nothing. No answer counts before the transcript shows it,
because it may be moved to a file or cut on its way. Some ways of trimming a context leave no line
at all, so trust also ends where too much text lies between then and now, counted as the model sees
it: most of a transcript is not shown to it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from holdfast.reading import shell
from holdfast.reading.errors import NotOurs
from holdfast.reading.events import (
    LINES,
    Anchored,
    Barrier,
    Event,
    Forgotten,
    Hidden,
    Pieced,
    Printed,
    Refreshed,
    Seen,
    Together,
)
from holdfast.reading.hosts import claude_results
from holdfast.reading.hosts.lines import Follower, objects
from holdfast.reading.hosts.sidecar import Sidecar, text_digest, texts_of
from holdfast.reading.result import Answer
from holdfast.reading.scope import WHOLE
from holdfast.reading.tree import NO_ENTRY, Doubt, Evidence, Served, Tree, evidence_at
from holdfast.reading.trust import Ledger

IDLE_S_MAX = 3000.0
"""Results from before a longer pause may be cleared without a line in the transcript: after an
hour, by what is known. Ten minutes less is a safe bound."""

BYTES_BACK_MAX = 400_000
"""How much text the model may have seen between an anchor and now: some 100,000 tokens."""

SHORT, EDIT, SIZE = "/short", "/edit", "/size"
"""What ids of entries end with: a short form of ours, an edit whose place the line does not tell,
and the text that a line adds."""

_UNBOUNDED = 1 << 60
_CHANGING = ("Edit", "MultiEdit", "Write")
BESIDE_MAX = 64
"""How many lines back the other calls of a message are looked for."""
_BLOCKS = ("text", "thinking", "tool_use", "tool_result", "image")
_BLOCK_BYTES = 40
"""About what a block costs besides its text."""

_OURS = "[holdfast: "
"""How our short forms of the agent's own results begin."""


@dataclass(slots=True)
class _Line:
    """One line with a uuid: its place, its calls, its results."""

    uuid: str
    parent: str | None
    number: int
    size: int
    """The bytes of it that the model sees."""
    total: int
    """The same of all lines of the file up to this one: what was shown when it was."""
    sidechain: bool
    kind: str
    message: str | None = None
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    events: tuple[tuple[str, Event | None, Served | None], ...] = ()
    shown: dict[str, frozenset[str]] = field(default_factory=dict)
    """What each result may stand for by call id, for the sidecar to recognise; digests only.

    Of a result with structured content the model is shown that, as JSON with the text in it.
    """
    bridged: str | None = None
    """Of a compaction, the line before it. Never a way for trust."""
    boundary: bool = False
    """Whether it is a compaction."""
    at_s: float | None = None
    """When it was written, if it says so."""


class ClaudeCodeLog:
    """One transcript file, read as it grows."""

    counts_when_recorded = False

    def __init__(
        self,
        path: str | os.PathLike[str],
        sidecar: Sidecar | None = None,
        *,
        call: str | None = None,
        newest_leaf: bool = False,
        sidechain: bool = False,
        bytes_back_max: int = BYTES_BACK_MAX,
    ) -> None:
        self.path = os.fspath(path)
        self.sidecar = sidecar
        self.call = call
        """The call being answered; set before every read."""
        self.after: tuple[str, ...] = ()
        """The calls of the turn before this one, as the agent itself reported them: once all their
        results are here, what follows them is the pending call, before its own line is written."""
        self.now_s: float | None = None
        """The time of day, where an answer goes to the model now: a call may have waited for leave,
        and what was read before such a pause may be cleared from the next request."""
        self.newest_leaf = newest_leaf
        """Take the newest line for the leaf: for looking at a session, not for answering."""
        self.sidechain = sidechain
        self.bytes_back_max = bytes_back_max
        self.tree = Tree()
        self._follower = Follower(self.path)
        self._lines: dict[str, _Line] = {}
        self._order: list[_Line] = []
        self._blanking: list[_Line] = []
        self._compactions: list[_Line] = []
        self._undamaged_from = 0
        self._callers: dict[str, _Line] = {}
        self._messages: dict[str, list[_Line]] = {}
        self._answers: dict[str, _Line] = {}
        self._names: dict[str, tuple[str, Mapping[str, Any], str]] = {}
        self._session = os.path.splitext(os.path.basename(self.path))[0]
        self._torn = False
        self._asked = 0
        self._built: tuple[object, ...] | None = None

    def evidence(self) -> Evidence | Doubt:
        """What the transcript proves at the pending call."""
        try:
            self._catch_up()
            if self.sidecar is not None:
                self.sidecar.catch_up()
        except OSError as error:
            return Doubt(f"the transcript cannot be read: {error.strerror or error}")
        if self._torn:
            return Doubt("the last line of the transcript is damaged or half written")
        leaf = self._leaf()
        if isinstance(leaf, Doubt):
            return leaf
        if self.now_s is not None and leaf.at_s is not None and _idle(leaf.at_s, self.now_s):
            return Doubt("the call waited so long that older results may be cleared")
        version = None if self.sidecar is None else self.sidecar.version
        seen = (len(self._order), len(self._blanking), self._undamaged_from)
        state = (leaf.uuid, seen, version)
        before = self.tree
        if state != self._built:
            self.tree = self._tree(leaf)
            self._built = state
        last = len(self.tree) - 1 if len(self.tree) else NO_ENTRY
        found = evidence_at(self.tree, last, self._session)
        if before is not self.tree and len(before):
            found.ledger.take_views(before.ledger(len(before) - 1))
        self._asked += 1
        return Evidence(
            self._session,
            leaf.uuid,
            found.ledger,
            self._has_answers(leaf),
            found.boundary,
            self._asked,
        )

    def _has_answers(self, leaf: _Line) -> bool:
        """Whether the conversation already went on from here."""
        return self.call is not None and self.call in self._answers

    def record(self, answer: Answer, call: str | None = None) -> None:
        """Note what an answer claims; it counts once the transcript shows its text."""
        if self.sidecar is not None and call is not None:
            self.sidecar.record(call, answer)

    def record_short(
        self, event: Pieced, text: str, call: str, rule: str = "", saved_bytes: int = 0
    ) -> None:
        """Note a short form of the agent's own result; it counts once the log shows its text."""
        if self.sidecar is not None:
            self.sidecar.record_short(call, event, text, rule, saved_bytes)

    def was_folded(self, path: str) -> bool:
        """Whether a fold of this file was answered, and not compacted away since."""
        leaf = self._leaf()
        if self.sidecar is None or isinstance(leaf, Doubt):
            return True
        self.sidecar.catch_up()
        since = self._compacted_at(leaf)
        lines = [self._answers.get(call) for call, _ in self.sidecar.folded(path)]
        return any(line is None or line.number >= since for line in lines)

    def record_edit(self, events: Sequence[Seen], call: str) -> None:
        """Note where an edit was made, for a transcript that does not say so."""
        if self.sidecar is not None:
            self.sidecar.record_edit(call, events)

    def refresh(self, event: Refreshed, at_ms: int) -> None:
        """Note a refresh in the sidecar, after the pending call."""
        if self.sidecar is None or self.call is None:
            raise NotOurs(self.path)
        self.sidecar.refresh(event, at_ms, self.call)

    def changed_beside(self, call: str) -> frozenset[str]:
        """The files that other calls of the same message change; their results come with it."""
        caller = self._callers.get(call)
        if caller is None or caller.message is None:
            return frozenset()
        beside = [
            self._names[other]
            for line in self._order[max(0, caller.number - BESIDE_MAX) :]
            if line.message == caller.message
            for other in line.calls
        ]
        paths = (given.get("file_path") for name, given, _ in beside if name in _CHANGING)
        return frozenset(path for path in paths if isinstance(path, str))

    def folder_of(self, call: str, command: str, cwd: str) -> str | None:
        """Where this command ran; `cwd` is where the agent is now that it has run."""
        known = self._names.get(call)
        if known is None:
            went = shell.folder(command)
            return cwd if went is None or os.path.isabs(went) else None
        return None if claude_results.shell_read(command, known[2], cwd) is None else known[2]

    def _catch_up(self) -> None:
        grown = self._follower.look()
        if grown is None:
            return
        if grown.restarted:
            self._lines, self._order, self._blanking, self._compactions = {}, [], [], []
            self._undamaged_from = 0
            self._callers, self._answers, self._names = {}, {}, {}
            self._messages = {}
        self._torn = False
        for line in grown.lines:
            if line.strip():
                found = objects(line)
                for raw in found or [None]:
                    self._take(raw)
        self._torn = self._torn or bool(grown.tail.strip())

    def _take(self, raw: object) -> None:
        if not isinstance(raw, Mapping):
            self._torn = True
            self._undamaged_from = len(self._order)
            return
        self._torn = False
        if raw.get("type") == "content-replacement":
            self._take_replacements(raw.get("replacements"))
            return
        uuid = raw.get("uuid")
        # Later compactions append old lines again with their own ids: the first one counts.
        if not isinstance(uuid, str) or not uuid or uuid in self._lines:
            return
        if isinstance(raw.get("sessionId"), str):
            self._session = str(raw["sessionId"])
        parent = raw.get("parentUuid")
        size = _seen_bytes(raw.get("message"))
        line = _Line(
            uuid,
            parent if isinstance(parent, str) else None,
            len(self._order),
            size,
            self._total() + size,
            raw.get("isSidechain") is True,
            str(raw.get("type")),
        )
        line.at_s = _seconds(raw.get("timestamp"))
        self._parse(line, raw)
        self._lines[uuid] = line
        self._order.append(line)

    def _total(self) -> int:
        return self._order[-1].total if self._order else 0

    def _take_replacements(self, replacements: object) -> None:
        """Results that the model is shown a part of, or a file name for."""
        found = replacements if isinstance(replacements, list) else [None]
        ids = [one.get("toolUseId") if isinstance(one, Mapping) else None for one in found]
        if not all(isinstance(call, str) for call in ids):
            self._undamaged_from = len(self._order)
            return
        name, number = f"replaced-{len(self._blanking)}", len(self._order)
        line = _Line(name, None, number, 0, self._total(), False, "system")
        line.events = ((f"{line.uuid}/results", Hidden(tuple(map(str, ids))), None),)
        self._blanking.append(line)

    def _parse(self, line: _Line, raw: Mapping[str, Any]) -> None:
        message = raw.get("message")
        content = message.get("content") if isinstance(message, Mapping) else None
        blocks = [b for b in content if isinstance(b, Mapping)] if isinstance(content, list) else []
        if line.kind == "assistant":
            found = message.get("id") if isinstance(message, Mapping) else None
            line.message = found if isinstance(found, str) else None
            if line.message is not None:
                self._messages.setdefault(line.message, []).append(line)
            calls = []
            for block in blocks:
                call = block.get("id")
                if block.get("type") == "tool_use" and isinstance(call, str):
                    calls.append(call)
                    self._callers.setdefault(call, line)
                    given = block.get("input")
                    arguments = given if isinstance(given, Mapping) else {}
                    self._names.setdefault(call, (str(block.get("name")), arguments, _cwd(raw)))
            line.calls = tuple(calls)
        elif line.kind == "user":
            self._parse_results(line, raw, blocks)
        elif line.kind == "system":
            line.events = _system_events(line, raw)
            if raw.get("subtype") == "microcompact_boundary":
                self._blanking.append(line)
        if raw.get("isCompactSummary") is True:
            line.events = ((f"{line.uuid}/summary", Barrier(), None), *line.events)
        if any(isinstance(event, Barrier) for _, event, _ in line.events):
            self._compactions.append(line)

    def _parse_results(
        self, line: _Line, raw: Mapping[str, Any], blocks: list[Mapping[str, Any]]
    ) -> None:
        results: list[str] = []
        events: list[tuple[str, Event | None, Served | None]] = []
        found = [b for b in blocks if b.get("type") == "tool_result"]
        for block in found:
            call = block.get("tool_use_id")
            if not isinstance(call, str) or call in self._answers:
                continue
            results.append(call)
            self._answers[call] = line
            text = _text_of(block.get("content"))
            name, given, cwd = self._names.get(call, ("", {}, ""))
            result = raw.get("toolUseResult")
            if text is None or block.get("is_error") is True:
                continue
            line.shown[call] = frozenset(map(text_digest, _candidates(text, result)))
            folders = (cwd, _cwd(raw))
            if len(found) == 1 and isinstance(result, Mapping):
                seen = claude_results.events(name, given, result, text, folders)
            else:  # of subagents a transcript has only the text
                seen = claude_results.plain_events(name, given, text, folders)
                if claude_results.is_plain_edit(name, text) and seen:
                    events.append((f"{call}{EDIT}", seen[0], None))
                    continue
                if seen and isinstance(seen[0], Printed) and name == "Read":
                    line.shown[call] |= {text_digest("\n".join(seen[0].rows))}  # without numbers
            if any(isinstance(one, Printed) and one.rows[0].startswith(_OURS) for one in seen):
                # Not the file's text. What it stands for is in the sidecar.
                seen = tuple(Forgotten(one.path) for one in seen)
                events.append((f"{call}{SHORT}", seen[0], None))
                continue
            first = seen[0] if len(seen) == 1 and name == "Read" else None
            if isinstance(first, Printed) and len(found) == 1 and isinstance(result, Mapping):
                events.append((call, _whole(first, result), None))
            for count, one in enumerate(seen):
                events.append(
                    (f"{call}{LINES}" if not count else f"{call}/{count}{LINES}", one, None)
                )
        line.results, line.events = tuple(results), tuple(events)

    def _leaf(self) -> _Line | Doubt:
        if self.call is not None:
            caller = self._callers.get(self.call) or self._last_result(self.after)
            if caller is None:
                return Doubt("the pending call is not in the transcript yet")
            if caller.sidechain != self.sidechain:
                return Doubt("the pending call belongs to another chain")
            return caller
        if not self.newest_leaf:
            return Doubt("the pending call is not known, so the leaf is a guess")
        for line in reversed(self._order):
            if line.sidechain == self.sidechain:
                return line
        return Doubt("the transcript has no entries")

    def _last_result(self, calls: tuple[str, ...]) -> _Line | None:
        """The newest line with results of these calls, if all of them are here.

        None also when something else was shown since: then it is not the turn before.
        """
        lines = [self._answers.get(call) for call in calls]
        found = [line for line in lines if line is not None]
        if not found or len(found) < len(calls):
            return None
        last = max(found, key=lambda line: line.number)
        later = self._order[last.number + 1 :]
        if any(line.results or line.events for line in later if line.sidechain == self.sidechain):
            return None
        return last

    def _path(self, leaf: _Line, *, bounded: bool = True) -> list[_Line]:
        """The lines from the leaf back to a root; where trust is at stake, within its bounds."""
        path: list[_Line] = []
        at: _Line | None = leaf
        left = self.bytes_back_max if bounded else _UNBOUNDED
        weighed: set[str] = set()
        oldest = max(self._undamaged_from, self._compacted_at(leaf) if bounded else 0)
        while at is not None and left >= 0 and at.number >= oldest:
            path.append(at)
            if at.results:
                weighed.add(at.uuid)
            left -= at.size
            for call in self._calls_of(at):
                answer = self._answers.get(call)
                if answer is not None and answer.uuid not in weighed:
                    weighed.add(answer.uuid)
                    left -= answer.size
            above = None if at.parent is None else self._lines.get(at.parent)
            if above is None and at.parent is not None and not bounded:
                above = self._written_before(at)  # its parent was never written
            # Claude Code writes a parent before its child; any other link is not trusted.
            goes_on = above is not None and above.number < at.number
            if above is not None and bounded and _paused(above, at):
                goes_on = False
            at = above if goes_on else None
        return path

    def _compacted_at(self, leaf: _Line) -> int:
        """The number of the latest compaction before a line; 0 when there was none.

        Lines kept from before one are not written again, and what follows them hangs below them: so
        a walk may pass a compaction by, and lead back to what it took.
        """
        for line in reversed(self._compactions):
            if line.number <= leaf.number and line.sidechain == leaf.sidechain:
                return line.number
        return 0

    def before_compaction(self) -> Ledger | None:
        """What was held when the conversation was last compacted; None when it never was.

        For telling what was lost, never for trust: a boundary is bridged here.
        """
        leaf = self._leaf()
        if isinstance(leaf, Doubt):
            return None
        root = leaf
        while root.parent is not None and (above := self._lines.get(root.parent)) is not None:
            if above.number >= root.number:
                return None
            root = above
        before = self._before(root)
        if before is None:
            return None
        tree = self._tree(before, bounded=False)
        return tree.ledger(len(tree) - 1) if len(tree) else None

    def _before(self, root: _Line) -> _Line | None:
        """The line before a compaction: the one it names, or else the one written before it."""
        if not root.boundary:
            return None
        named = None if root.bridged is None else self._lines.get(root.bridged)
        if named is not None and named.number < root.number:
            return named
        return self._written_before(root)

    def _written_before(self, line: _Line) -> _Line | None:
        """The message that was written before a line. Never a way for trust."""
        for other in reversed(self._order[: line.number]):
            if other.sidechain == line.sidechain and other.kind in ("user", "assistant"):
                return other
        return None

    def _calls_of(self, line: _Line) -> Iterator[str]:
        """The calls of a message, of which one line is on the path.

        Parallel calls are lines of their own, each below the one before, and the path may go on
        from the result of an earlier one: the later calls and results are beside it then.
        """
        beside = None if line.message is None else self._messages.get(line.message)
        for other in beside or (line,):
            yield from other.calls

    def _tree(self, leaf: _Line, *, bounded: bool = True) -> Tree:
        """One chain with everything the model sees at the leaf."""
        path = self._path(leaf, bounded=bounded)
        on_path = {line.uuid for line in path}
        answered = {
            self._callers[call].message
            for line in path
            for call in line.results
            if call in self._callers
        }
        lines = list(path)
        lines += [line for line in self._blanking if line.uuid not in on_path]
        for line in path:
            if line.message is None or line.message not in answered:
                continue
            for call in self._calls_of(line):
                sibling = self._answers.get(call)
                if sibling is not None and sibling.uuid not in on_path:
                    on_path.add(sibling.uuid)
                    lines.append(sibling)
        lines.sort(key=lambda line: line.number)
        tree = Tree()
        for line in lines:
            self._add_line(tree, line)
        return tree

    def _add_line(self, tree: Tree, line: _Line) -> None:
        if self.newest_leaf:
            # Only for looking at: trust needs the lines that say something about reads.
            _chain(tree, line.uuid, line.kind, None, None)
        short = {} if self.sidecar is None else self.sidecar.short
        edits = {} if self.sidecar is None else self.sidecar.edits
        shown = tree.bytes_at(len(tree) - 1)
        _chain(tree, f"{line.uuid}{SIZE}", line.kind, None, None, line.total - shown)
        for entry, event, served in line.events:
            call = entry.removesuffix(SHORT)
            known = short.get(call) if call != entry else None
            if known is not None and known.text_sha256 in line.shown.get(call, ()):
                event = known.event
            made = edits.get(entry.removesuffix(EDIT)) if entry.endswith(EDIT) else None
            if made is not None:
                event = Together(tuple(made))
            _chain(tree, entry, line.kind, event, served)
        if self.sidecar is None:
            return
        for call in line.results:
            record = self.sidecar.served.get(call)
            if record is not None and record.text_sha256 in line.shown.get(call, ()):
                _chain(tree, call, "read", record.event(), record.served())
        for name in (line.uuid, *line.calls):
            for count, event in enumerate(self.sidecar.refreshed.get(name, ())):
                _chain(tree, f"{name}/refresh-{count}", "refresh", event, None)


def _cwd(raw: Mapping[str, Any]) -> str:
    found = raw.get("cwd")
    return found if isinstance(found, str) else ""


def _paused(before: _Line, after: _Line) -> bool:
    """Whether so much time passed between two lines that results may have been cleared."""
    if before.at_s is None or after.at_s is None:
        return False
    return _idle(before.at_s, after.at_s)


def _idle(before_s: float, after_s: float) -> bool:
    return after_s - before_s > IDLE_S_MAX


def _seconds(text: object) -> float | None:
    try:
        return datetime.fromisoformat(text).timestamp() if isinstance(text, str) else None
    except (ValueError, OverflowError):
        return None


def _chain(
    tree: Tree,
    entry: str,
    kind: str,
    event: Event | None,
    served: Served | None,
    size: int = 0,
) -> None:
    """Add an entry below the one added last."""
    tree.add(entry, tree.ids[-1] if tree.ids else None, kind, event, served, size)


def _system_events(
    line: _Line, raw: Mapping[str, Any]
) -> tuple[tuple[str, Event | None, Served | None], ...]:
    match raw.get("subtype"):
        case "compact_boundary":
            line.parent, line.boundary = None, True
            bridged = raw.get("logicalParentUuid")
            line.bridged = bridged if isinstance(bridged, str) else None
            return ((f"{line.uuid}/boundary", Barrier(), None),)
        case "microcompact_boundary":
            details = raw.get("microcompactMetadata")
            ids = details.get("compactedToolIds") if isinstance(details, Mapping) else None
            event: Event = Barrier()
            if isinstance(ids, list) and all(isinstance(call, str) for call in ids):
                event = Hidden(tuple(ids))
            return ((f"{line.uuid}/boundary", event, None),)
        case _:
            return ()


def _text_of(content: object) -> str | None:
    """The text of a result, or None when it is not all text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    pieces = []
    for block in content:
        if not isinstance(block, Mapping) or block.get("type") != "text":
            return None
        pieces.append(block.get("text"))
    return "".join(p for p in pieces if isinstance(p, str)) if len(pieces) == 1 else None


def _candidates(text: str, result: object) -> Iterator[str]:
    """The texts that a result may stand for: as shown, and as its tool carried it."""
    yield from texts_of(text)
    if not isinstance(result, Mapping):
        return
    file = result.get("file")
    content = file.get("content") if isinstance(file, Mapping) else None
    if isinstance(content, str) and claude_results.read(result, text) is not None:
        yield content


def _whole(printed: Printed, result: Mapping[str, Any]) -> Anchored | None:
    """The anchor of a Read that printed the whole file, by the digest of its content."""
    if not printed.whole:
        return None
    file = result.get("file")
    content = file.get("content") if isinstance(file, Mapping) else None
    if not isinstance(content, str):
        return None
    digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
    return Anchored(printed.path, WHOLE, digest)


def _seen_bytes(message: object) -> int:
    """How many bytes of a line the model is sent, about."""
    content = message.get("content") if isinstance(message, Mapping) else None
    return _text_size(content)


def _text_size(value: object) -> int:
    if isinstance(value, str):
        return len(value.encode("utf-8", "surrogatepass"))
    if isinstance(value, Mapping):
        parts = (value.get(name) for name in ("text", "thinking", "input", "content"))
        if value.get("type") in _BLOCKS:
            return sum(map(_text_size, parts)) + _BLOCK_BYTES
        return sum(len(str(key)) + _text_size(one) for key, one in value.items())
    if isinstance(value, list):
        return sum(map(_text_size, value))
    return 8 if value is not None else 0
