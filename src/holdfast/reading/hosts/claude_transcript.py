"""The lines of a Claude Code transcript in memory, and which of them the model sees at a leaf.

No file is read here: lines are taken in the order in which they were written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from holdfast.reading.hosts.claude_lines import (
    UNKNOWN,
    ToolCall,
    TranscriptLine,
    parse_line,
    replaced_results,
)

IDLE_S_MAX = 3000.0
"""Results from before a longer pause may be cleared without a line in the transcript: as far as is
known, after an hour. Ten minutes less is a safe bound."""

BESIDE_MAX = 64
"""How many lines back the other calls of a message are looked for."""

_UNBOUNDED = 1 << 60
_CHANGING = ("Edit", "MultiEdit", "Write")


def idle(before_s: float | None, after_s: float | None) -> bool:
    """Whether enough time passed that results may have been cleared."""
    return before_s is not None and after_s is not None and after_s - before_s > IDLE_S_MAX


class Transcript:
    """Lines by uuid, message and call id."""

    def __init__(self, session: str) -> None:
        self.session = session
        self.lines: list[TranscriptLine] = []
        self.torn = False
        """Whether the newest line is damaged."""
        self.calls: dict[str, ToolCall] = {}
        self.callers: dict[str, TranscriptLine] = {}
        self.answers: dict[str, TranscriptLine] = {}
        """The line with the result of each call."""
        self._by_uuid: dict[str, TranscriptLine] = {}
        self._messages: dict[str, list[TranscriptLine]] = {}
        self._blanking: list[TranscriptLine] = []
        self._compactions: list[TranscriptLine] = []
        self._undamaged_from = 0

    @property
    def version(self) -> tuple[int, int, int]:
        """Changes when what the model sees may have changed."""
        return (len(self.lines), len(self._blanking), self._undamaged_from)

    def take(self, raw: object) -> None:
        """Add a line parsed from JSON; None stands for a line that is not valid JSON."""
        if not isinstance(raw, Mapping):
            self.torn = True
            self._undamaged_from = len(self.lines)
            return
        self.torn = False
        number, shown = len(self.lines), self.lines[-1].total if self.lines else 0
        if raw.get("type") == "content-replacement":
            name = f"replaced-{len(self._blanking)}"
            line = replaced_results(raw.get("replacements"), name, number, shown)
            if line is None:
                self._undamaged_from = number
            else:
                self._blanking.append(line)
            return
        uuid = raw.get("uuid")
        # Later compactions append old lines again with their own ids: the first one counts.
        if not isinstance(uuid, str) or not uuid or uuid in self._by_uuid:
            return
        if isinstance(raw.get("sessionId"), str):
            self.session = str(raw["sessionId"])
        self._add(parse_line(raw, number, shown, self.calls, self.answers))

    def _add(self, line: TranscriptLine) -> None:
        self._by_uuid[line.uuid] = line
        self.lines.append(line)
        if line.message is not None:
            self._messages.setdefault(line.message, []).append(line)
        for call, use in line.calls.items():
            self.callers.setdefault(call, line)
            self.calls.setdefault(call, use)
        for call in line.results:
            self.answers[call] = line
        if line.blanks:
            self._blanking.append(line)
        if line.compacts:
            self._compactions.append(line)

    def newest(self, sidechain: bool) -> TranscriptLine | None:
        return next((one for one in reversed(self.lines) if one.sidechain == sidechain), None)

    def last_result(self, calls: tuple[str, ...], sidechain: bool) -> TranscriptLine | None:
        """The newest line with results of these calls, if all of them are here.

        None also when something else was shown since: then they are not from the previous turn.
        """
        lines = [self.answers[call] for call in calls if call in self.answers]
        if not lines or len(lines) < len(calls):
            return None
        last = max(lines, key=lambda line: line.number)
        later = self.lines[last.number + 1 :]
        if any(line.results or line.events for line in later if line.sidechain == sidechain):
            return None
        return last

    def changed_beside(self, call: str) -> frozenset[str]:
        """The files that other calls of the same message change; all results arrive together."""
        caller = self.callers.get(call)
        if caller is None or caller.message is None:
            return frozenset()
        beside = [
            self.calls.get(other, UNKNOWN)
            for line in self.lines[max(0, caller.number - BESIDE_MAX) :]
            if line.message == caller.message
            for other in line.calls
        ]
        paths = (use.arguments.get("file_path") for use in beside if use.name in _CHANGING)
        return frozenset(path for path in paths if isinstance(path, str))

    def compacted_at(self, leaf: TranscriptLine) -> int:
        """The number of the latest compaction before a line; 0 when there was none.

        Lines preserved by a compaction are not written again, and later lines are their children:
        so following parents may bypass the compaction and reach what it removed.
        """
        for line in reversed(self._compactions):
            if line.number <= leaf.number and line.sidechain == leaf.sidechain:
                return line.number
        return 0

    def before_compaction(self, leaf: TranscriptLine) -> TranscriptLine | None:
        """The last line before the compaction that a leaf's path begins with. Never for trust."""
        root = leaf
        while root.parent is not None and (above := self._by_uuid.get(root.parent)) is not None:
            if above.number >= root.number:
                return None
            root = above
        if not root.boundary:
            return None
        named = None if root.bridged is None else self._by_uuid.get(root.bridged)
        if named is not None and named.number < root.number:
            return named
        return self._written_before(root)

    def visible(self, leaf: TranscriptLine, bytes_back_max: int | None) -> list[TranscriptLine]:
        """Everything the model sees at a leaf, in the order in which it was written.

        Without a bound also what may be gone: for reporting what was lost, never for trust.
        """
        oldest = self._oldest(leaf, bytes_back_max)
        path = self._path(leaf, bytes_back_max)
        on_path = {line.uuid for line in path}
        answered = {
            self.callers[call].message
            for call in chain.from_iterable(line.results for line in path)
            if call in self.callers
        }
        lines = path + [line for line in self._blanking if line.uuid not in on_path]
        for line in path:
            if line.message is None or line.message not in answered:
                continue
            for call in self._calls_of(line):
                sibling = self.answers.get(call)
                if sibling is None or sibling.number < oldest:
                    continue  # a message may have calls on both sides of a compaction
                if sibling.uuid not in on_path:
                    on_path.add(sibling.uuid)
                    lines.append(sibling)
        return sorted(lines, key=lambda line: line.number)

    def _oldest(self, leaf: TranscriptLine, bytes_back_max: int | None) -> int:
        """The number of the first line that may count at a leaf; for trust, after a compaction."""
        return max(self._undamaged_from, 0 if bytes_back_max is None else self.compacted_at(leaf))

    def _path(self, leaf: TranscriptLine, bytes_back_max: int | None) -> list[TranscriptLine]:
        """The lines from the leaf back to a root; for trust, only within the bounds."""
        path: list[TranscriptLine] = []
        at: TranscriptLine | None = leaf
        bounded = bytes_back_max is not None
        bytes_left = _UNBOUNDED if bytes_back_max is None else bytes_back_max
        counted: set[str] = set()
        oldest = self._oldest(leaf, bytes_back_max)
        while at is not None and bytes_left >= 0 and at.number >= oldest:
            path.append(at)
            if at.results:
                counted.add(at.uuid)
            bytes_left -= at.size
            for call in self._calls_of(at):
                answer = self.answers.get(call)
                if answer is not None and answer.uuid not in counted:
                    counted.add(answer.uuid)
                    bytes_left -= answer.size
            above = None if at.parent is None else self._by_uuid.get(at.parent)
            if above is None and at.parent is not None and not bounded:
                above = self._written_before(at)  # its parent was never written
            # Claude Code writes a parent before its child; any other link is not trusted.
            goes_on = above is not None and above.number < at.number
            if above is not None and bounded and idle(above.at_s, at.at_s):
                goes_on = False
            at = above if goes_on else None
        return path

    def _written_before(self, line: TranscriptLine) -> TranscriptLine | None:
        """The message that was written before a line. Never used for trust."""
        for other in reversed(self.lines[: line.number]):
            if other.sidechain == line.sidechain and other.kind in ("user", "assistant"):
                return other
        return None

    def _calls_of(self, line: TranscriptLine) -> Iterator[str]:
        """The calls of the message that this line of the path belongs to.

        Parallel calls are separate lines, each below the previous one, and the path may continue
        from the result of an earlier call: then the later calls and results are not on it.
        """
        beside = None if line.message is None else self._messages.get(line.message)
        for other in beside or (line,):
            yield from other.calls
