"""What a model holds, taken from the request that it is about to be sent.

Some agents show a plugin every request before it is sent. The request is exactly what the model
sees: text that was compacted, pruned, rewound or edited out is not in it. So trust is not replayed
from a log here. Each request replaces the one before, and until the next one the newest counts.

    a read, a shell read     the lines that it shows
    an edit, a write         what the model wrote itself
    a short answer of ours   what our record says, if the request shows exactly its text; otherwise
                             nothing is certain about that file
    a search of ours         the lines that it printed as they are, if the host gave this answer
    a removed result         nothing

A short answer may stay in the context longer than the text that it refers to; this also applies to
our own `read`. `dangling` has such answers with the text that should replace them, for agents that
let us change the request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from holdfast.agents.hooks import (
    EditCall,
    OwnCall,
    PatchCall,
    ReadCall,
    ShellCall,
    ToolUse,
    WriteCall,
)
from holdfast.reading import native, shell
from holdfast.reading.errors import NotOurs
from holdfast.reading.events import (
    FOLDED,
    Anchored,
    Barrier,
    Derived,
    Event,
    Forgotten,
    Hidden,
    Pieced,
    Printed,
    Refreshed,
    Together,
)
from holdfast.reading.history.steps import Called, Returned, Said, Step
from holdfast.reading.hosts import calls
from holdfast.reading.hosts.pi_entries import Rules, read_event
from holdfast.reading.hosts.sidecar import Sidecar, text_digest
from holdfast.reading.result import Answer
from holdfast.reading.scope import Lines
from holdfast.reading.tree import NO_ENTRY, Doubt, Evidence, Tree, evidence_at
from holdfast.reading.trust import Ledger
from holdfast.reading.view import Load, View

OURS = ("[holdfast: ", "[readcache: ")
"""How our short answers begin."""


class RequestLog:
    """The newest request of one conversation."""

    counts_when_recorded = False

    def __init__(
        self,
        session: str,
        sidecar: Sidecar,
        answers: Callable[[str], Sequence[Printed]] = lambda digest: (),
    ) -> None:
        self.session, self.sidecar, self._shown_by = session, sidecar, answers
        self.tree = Tree()
        self.dangling: dict[int, Printed] = {}
        """Index of a short answer in the request -> the lines that it can no longer refer to."""
        self.notes: dict[str, str] = {}
        """Id of a call -> the text that is added to its result in every request."""
        self.number: int | None = None
        """The number of the request; None when it was not processed completely."""
        self.messages: tuple[tuple[str, str], ...] = ()
        """The latest texts in the request, each with its role."""
        self._uses: tuple[tuple[ToolUse, str], ...] = ()
        self._shown = False
        self._evidence_count = 0

    def show(self, uses: Sequence[ToolUse], cwd: str, load: Load) -> None:
        """Process the request that the model is about to be sent."""
        self._evidence_count += 1
        ids = [use.id for use in uses]
        # Some models restart their call ids each turn, so several calls may have the same id.
        self._shown = len(set(ids)) == len(ids)
        if not self._shown:
            uses = ()
            self.notes.clear()
        self.sidecar.catch_up()
        self._uses = tuple((use, cwd) for use in uses)
        self.tree, self.dangling = Tree(), {}
        views: dict[str, View] = {}
        digests = Ledger()
        for place, use in enumerate(uses):
            size = len((use.shown or use.text or "").encode("utf-8", "surrogatepass"))
            for number, event in enumerate(self.events(use, cwd, load) or [None]):
                applied = event
                if isinstance(event, Pieced):
                    lost = missing(event, views.setdefault(event.path, View()), load)
                    if lost is not None:
                        self.dangling[place] = applied = lost
                elif isinstance(event, Derived) and not digests.stands(event):
                    applied = stored_lines(event, load)
                    if applied is not None:
                        self.dangling[place] = applied
                if applied is not None:
                    _apply(views, applied, load)
                    digests.apply(applied)
                parent = self.tree.ids[-1] if self.tree.ids else None
                self.tree.add(f"{place}/{number}", parent, "result", applied, None, size)
                size = 0

    @property
    def steps(self) -> list[Step]:
        """The request as steps, from which the signals for focused reads are taken."""
        out: list[Step] = [
            Said("user" if role == "user" else "assistant", text) for role, text in self.messages
        ]
        for use, cwd in self._uses:
            tool, arguments = _named(use)
            out.append(Called(use.id or "", tool, arguments))
            shown = use.shown if use.shown is not None else use.text
            out.append(Returned(use.id or "", tool, arguments, shown or "", None, use.failed, cwd))
        return out

    def events(self, use: ToolUse, cwd: str, load: Load) -> Sequence[Event]:
        """The events about files in one result."""
        text = use.shown if use.shown is not None else use.text
        if text is None:
            return ()
        digest = text_digest(text)
        answer = self.sidecar.short.get(use.id or "")
        if answer is not None and answer.text_sha256 == digest:
            return (answer.event,)
        served = self.sidecar.served.get(use.id or "")
        if served is not None and served.text_sha256 == digest:
            return (served.event(),)
        if isinstance(use.call, OwnCall | ShellCall) and not use.failed:
            # For a shell call this is `holdfast search`, the only command whose answers are kept.
            ended = text_digest(text.strip()) if isinstance(use.call, ShellCall) else digest
            printed = self._shown_by(ended)
            if printed:
                return tuple(printed)
        own = own_event(use, text, load)
        if isinstance(own, Derived):
            return (own,)
        if text.startswith(OURS):
            return tuple(Forgotten(path) for path in paths_of(use, cwd))
        events = () if use.failed else seen_by(use, cwd)
        # The lines come last: what the request shows overrides what is stored.
        return events if own is None else (own, *events)

    def evidence(self) -> Evidence | Doubt:
        """What the newest request shows."""
        if not self._shown:
            return Doubt("no request of this conversation was seen yet, or its calls share an id")
        last = len(self.tree) - 1 if len(self.tree) else NO_ENTRY
        return evidence_at(self.tree, last, self.session, self._evidence_count)

    def record(self, answer: Answer, call: str | None = None) -> None:
        """Note what an answer of our own tools claims."""
        if call is not None:
            self.sidecar.record(call, answer)

    def record_short(
        self, event: Pieced, text: str, call: str, rule: str = "", saved_bytes: int = 0
    ) -> None:
        """Note a short form of the agent's own result; it counts where a request shows it."""
        self.sidecar.record_short(call, event, text, rule, saved_bytes)

    def was_folded(self, path: str) -> bool:
        """Whether a read of this file was ever folded in this conversation."""
        self.sidecar.catch_up()
        return bool(self.sidecar.folded(path))

    def refresh(self, event: Refreshed, at_ms: int) -> None:
        """Refused: a request has no place for a refresh."""
        raise NotOurs(self.session)


def _named(use: ToolUse) -> tuple[str, dict[str, object]]:
    """The tool name and arguments of a call, as `reading/history` names them."""
    match use.call:
        case ReadCall(path):
            return "read", {"path": path}
        case ShellCall(command):
            return "bash", {"command": command}
        case EditCall():
            changes = [
                {"oldText": one.old, "newText": one.new, "replaceAll": one.everywhere}
                for one in (use.call, *use.call.more)
            ]
            return "edit", {"path": use.call.path, "edits": changes}
        case WriteCall(path, text):
            return "write", {"path": path, "content": text}
        case PatchCall(patch):
            return "apply_patch", {"patch": patch}
        case OwnCall(name):
            return f"holdfast_{name}", {}


def _apply(views: dict[str, View], event: Event, load: Load) -> None:
    if isinstance(event, Together):
        for one in event.events:
            _apply(views, one, load)
    elif not isinstance(event, Barrier | Hidden):
        views.setdefault(event.path, View()).apply(event, 0, load)


def missing(event: Pieced, view: View, load: Load) -> Printed | None:
    """The lines of a short answer, if this view lacks some that the answer only names."""
    data = load(event.digest)
    rows = None if data is None else native.shown_rows(data)
    if rows is None:
        return None
    for piece in event.pieces:
        if piece.before is None or piece.before == FOLDED:
            continue
        for offset in range(piece.lines):
            line = view.lines.get(piece.before + offset)
            at = piece.first + offset - 1
            if line is None or at >= len(rows) or line.text != rows[at]:
                first = event.pieces[0].first
                last = event.pieces[-1].first + event.pieces[-1].lines - 1
                return Printed(event.path, first, tuple(rows[first - 1 : last]), event.whole)
    return None


def stored_lines(event: Derived, load: Load) -> Printed | None:
    """The lines that an answer of our own read refers to; None when their text is not kept."""
    data = load(event.digest)
    rows = None if data is None else native.shown_rows(data)
    if rows is None:
        return None
    if isinstance(event.scope, Lines):
        first, last = event.scope
        return Printed(event.path, first, tuple(rows[first - 1 : last]))
    return Printed(event.path, 1, tuple(rows), whole=True)


def own_event(use: ToolUse, text: str, load: Load) -> Anchored | Derived | None:
    """What an answer of our own read claims, if the agent stores that with the result."""
    claimed = use.result.get("readcache") if isinstance(use.result, Mapping) else None
    if claimed is None or use.failed:
        return None
    event, _ = read_event(claimed, None, text, rules=Rules(verify=True, load=load))
    return event if isinstance(event, Anchored | Derived) else None


def seen_by(use: ToolUse, cwd: str) -> tuple[Event, ...]:
    """The events about lines of files in the result of a call, without our records."""
    match use.call:
        case ReadCall(path):
            name = calls.absolute(path, cwd)
            if name is None:
                return ()
            if use.text is None:
                return (Forgotten(name),)  # it is unclear which of its lines are shown
            return (Printed(name, use.first, tuple(use.text.split("\n")), use.is_whole),)
        case ShellCall(command):
            read = calls.shell_read(command, cwd, use.text or "")
            return () if read is None else (read,)
        case EditCall():
            name = calls.absolute(use.call.path, cwd)
            changes = [
                {"oldText": one.old, "newText": one.new, "replaceAll": one.everywhere}
                for one in (use.call, *use.call.more)
            ]
            return () if name is None else tuple(calls.edits(name, changes))
        case WriteCall(path, text):
            name = calls.absolute(path, cwd)
            return () if name is None else (calls.write(name, text),)
        case PatchCall(patch):
            return tuple(calls.patch(patch, cwd) or ())
        case OwnCall():
            return ()


def paths_of(use: ToolUse, cwd: str) -> list[str]:
    """The files that a call names."""
    if isinstance(use.call, ShellCall):
        command = shell.parse(use.call.command, cwd)
        return [] if command is None else [command.path]
    name = calls.absolute(getattr(use.call, "path", None), cwd)
    return [] if name is None else [name]
