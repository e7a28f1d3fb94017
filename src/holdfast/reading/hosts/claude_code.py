"""Claude Code's transcripts: trust from what the model was shown, and from our own sidecar.

A transcript is a tree of lines. Each block of an assistant message is a separate line, and the
results of parallel calls are siblings below their calls, so following parents alone misses some:
results are collected by the id of their call, for every call on the path whose message got any
result there (a request is never sent with some results missing).

    compact_boundary        has no parent, so the path ends there. Its logical parent, and messages
                            it lists as preserved, are never used. A summary counts as one too
    microcompact_boundary   blanks results listed by call id, wherever its own line is
    content-replacement     lists results that were moved to files, by call id, outside the tree
    a damaged line          may have been any of these: nothing before it counts
    Read results            anchor the lines whose numbered text is shown; the whole file, too,
                            when that is all of it
    edits, writes, Bash     say what is held line by line (`claude_results`)
    attachments             files and changed lines that the agent adds itself count as shown
    our own results         count when the sidecar has a record of the call with exactly this text
    side chains             are other conversations: left out, or read alone on request

The leaf is the pending call. Without its id the leaf is a guess (after a rewind nothing new may
have been written yet), and a guess proves nothing. No answer counts before the transcript shows it,
because the agent may move it to a file or cut it. Some ways of trimming a context leave no line at
all, so trust also ends when the model has been shown too much text since. Only text that the model
sees is counted: most of a transcript is not shown to it.

`claude_lines` parses a line, `claude_transcript` decides which lines are visible; the file, the
sidecar and the chain of entries are here.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from holdfast.reading import shell
from holdfast.reading.errors import NotOurs
from holdfast.reading.events import LINES, Event, Refreshed, Seen, Together
from holdfast.reading.hosts import claude_results
from holdfast.reading.hosts.claude_lines import EDIT, SHORT, SIZE, TranscriptLine
from holdfast.reading.hosts.claude_transcript import Transcript, idle
from holdfast.reading.hosts.lines import Follower, objects
from holdfast.reading.hosts.sidecar import Sidecar, SidecarRecords
from holdfast.reading.tree import NO_ENTRY, Doubt, Evidence, Served, Tree, evidence_at
from holdfast.reading.trust import Ledger

BYTES_BACK_MAX = 400_000
"""How much text the model may have seen between an anchor and now: some 100,000 tokens."""


class ClaudeCodeLog(SidecarRecords):
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
        """The calls of the previous turn, as the agent reported them. Once all their results are
        here, the pending call comes next, even before its own line is written."""
        self.now_s: float | None = None
        """The current time, if an answer goes to the model now: a call may have waited for
        permission, and results from before a long pause may be cleared from the next request."""
        self.newest_leaf = newest_leaf
        """Use the newest line as the leaf: for inspecting a session, not for answering."""
        self.sidechain = sidechain
        self.bytes_back_max = bytes_back_max
        self.tree = Tree()
        self._follower = Follower(self.path)
        self._transcript = Transcript(os.path.splitext(os.path.basename(self.path))[0])
        self._half_written = False
        self._evidence_count = 0
        self._built: tuple[object, ...] | None = None

    def evidence(self) -> Evidence | Doubt:
        """What the transcript proves at the pending call."""
        try:
            self._catch_up()
            if self.sidecar is not None:
                self.sidecar.catch_up()
        except OSError as error:
            return Doubt(f"the transcript cannot be read: {error.strerror or error}")
        if self._transcript.torn or self._half_written:
            return Doubt("the last line of the transcript is damaged or half written")
        leaf = self._leaf()
        if isinstance(leaf, Doubt):
            return leaf
        if idle(leaf.at_s, self.now_s):
            return Doubt("the call waited so long that older results may be cleared")
        version = None if self.sidecar is None else self.sidecar.version
        state = (leaf.uuid, self._transcript.version, version)
        before = self.tree
        if state != self._built:
            self.tree = self._tree(leaf, self.bytes_back_max)
            self._built = state
        session = self._transcript.session
        last = len(self.tree) - 1 if len(self.tree) else NO_ENTRY
        evidence = evidence_at(self.tree, last, session)
        if before is not self.tree and len(before):
            evidence.ledger.take_views(before.ledger(len(before) - 1))
        self._evidence_count += 1
        went_on = self.call is not None and self.call in self._transcript.answers
        return Evidence(
            session, leaf.uuid, evidence.ledger, went_on, evidence.boundary, self._evidence_count
        )

    def was_folded(self, path: str) -> bool:
        """Whether a read of this file was folded since the latest compaction."""
        leaf = self._leaf()
        if self.sidecar is None or isinstance(leaf, Doubt):
            return True
        self.sidecar.catch_up()
        since = self._transcript.compacted_at(leaf)
        lines = [self._transcript.answers.get(call) for call, _ in self.sidecar.folded(path)]
        return any(line is None or line.number >= since for line in lines)

    def record_edit(self, events: Sequence[Seen], call: str) -> None:
        """Note where an edit was made, for a transcript that lacks it."""
        if self.sidecar is not None:
            self.sidecar.record_edit(call, events)

    def refresh(self, event: Refreshed, at_ms: int) -> None:
        """Note a refresh in the sidecar, after the pending call."""
        if self.sidecar is None or self.call is None:
            raise NotOurs(self.path)
        self.sidecar.refresh(event, at_ms, self.call)

    def changed_beside(self, call: str) -> frozenset[str]:
        """The files that other calls of the same message change; all results arrive together."""
        return self._transcript.changed_beside(call)

    def folder_of(self, call: str, command: str, cwd: str) -> str | None:
        """Where this command ran; `cwd` is where the agent is now that it has run."""
        request = self._transcript.calls.get(call)
        if request is None:
            went = shell.folder(command)
            return cwd if went is None or os.path.isabs(went) else None
        return None if claude_results.shell_read(command, request.cwd, cwd) is None else request.cwd

    def before_compaction(self) -> Ledger | None:
        """What was held when the conversation was last compacted; None when it never was.

        For reporting what was lost, never for trust: the path continues across the boundary here.
        """
        leaf = self._leaf()
        before = None if isinstance(leaf, Doubt) else self._transcript.before_compaction(leaf)
        if before is None:
            return None
        tree = self._tree(before, None)
        return tree.ledger(len(tree) - 1) if len(tree) else None

    def since_compaction(self) -> Ledger | None:
        """What was shown since the latest compaction, also what may be gone; None if unknown.

        For reporting what the next compaction removes, never for trust.
        """
        leaf = self._leaf()
        if isinstance(leaf, Doubt):
            return None
        since, tree = self._transcript.compacted_at(leaf), Tree()
        for line in self._transcript.visible(leaf, None):
            if line.number >= since:
                self._add_line(tree, line)
        return tree.ledger(len(tree) - 1) if len(tree) else None

    def _catch_up(self) -> None:
        grown = self._follower.look()
        if grown is None:
            return
        if grown.restarted:
            self._transcript = Transcript(self._transcript.session)
        self._transcript.torn = False
        for line in grown.lines:
            if line.strip():
                for raw in objects(line) or [None]:
                    self._transcript.take(raw)
        self._half_written = bool(grown.tail.strip())

    def _leaf(self) -> TranscriptLine | Doubt:
        transcript = self._transcript
        if self.call is not None:
            caller = transcript.callers.get(self.call)
            caller = caller or transcript.last_result(self.after, self.sidechain)
            if caller is None:
                return Doubt("the pending call is not in the transcript yet")
            if caller.sidechain != self.sidechain:
                return Doubt("the pending call belongs to another chain")
            return caller
        if not self.newest_leaf:
            return Doubt("the pending call is not known, so the leaf is a guess")
        return transcript.newest(self.sidechain) or Doubt("the transcript has no entries")

    def _tree(self, leaf: TranscriptLine, bytes_back_max: int | None) -> Tree:
        """One chain with everything the model sees at the leaf."""
        tree = Tree()
        for line in self._transcript.visible(leaf, bytes_back_max):
            self._add_line(tree, line)
        return tree

    def _add_line(self, tree: Tree, line: TranscriptLine) -> None:
        if self.newest_leaf:
            # Only for display: trust needs just the lines with events.
            _chain(tree, line.uuid, line.kind, None, None)
        short = {} if self.sidecar is None else self.sidecar.short
        edits = {} if self.sidecar is None else self.sidecar.edits
        shown = tree.bytes_at(len(tree) - 1)
        _chain(tree, f"{line.uuid}{SIZE}", line.kind, None, None, line.total - shown)
        for entry, event in line.events:
            call = entry.removesuffix(SHORT)
            answer = short.get(call) if call != entry else None
            if answer is not None and answer.text_sha256 in line.shown.get(call, ()):
                event = answer.event
            edit = edits.get(entry.removesuffix(EDIT)) if entry.endswith(EDIT) else None
            if edit is not None:
                event = Together(tuple(edit))
            _chain(tree, entry, line.kind, event, None)
        if self.sidecar is None:
            return
        for call in line.results:
            record = self.sidecar.served.get(call)
            if record is not None and record.text_sha256 in line.shown.get(call, ()):
                _chain(tree, call, "read", record.event(), record.served())
            for count, one in enumerate(self.sidecar.shown_events(call, line.shown.get(call, ()))):
                _chain(tree, f"{call}/shown-{count}{LINES}", "read", one, None)
        for name in (line.uuid, *line.calls):
            for count, event in enumerate(self.sidecar.refreshed.get(name, ())):
                _chain(tree, f"{name}/refresh-{count}", "refresh", event, None)


def _chain(
    tree: Tree, entry: str, kind: str, event: Event | None, served: Served | None, size: int = 0
) -> None:
    """Add an entry below the one added last."""
    tree.add(entry, tree.ids[-1] if tree.ids else None, kind, event, served, size)
