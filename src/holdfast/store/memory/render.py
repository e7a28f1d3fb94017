"""One text for each answer of memory.

A text is a list of lines and tables. `plain_text` joins them for a model; the command line prints
the same lines in colour, and its tables as wide as the terminal.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, NamedTuple

from holdfast.store.memory.answers import (
    BranchCreated,
    BranchDeleted,
    BranchDiff,
    Branches,
    DocumentList,
    FoundDocuments,
    History,
    MergeConflicts,
    Merged,
    MergePreview,
)
from holdfast.store.model import Applied
from holdfast.text import counted, short_json

VALUE_WIDTH = 60
DEFAULT_BRANCH = "the default branch"


class Tone(Enum):
    """The meaning of a line; a terminal gives each tone a colour."""

    PLAIN = "plain"
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


class TextLine(NamedTuple):
    """One line of an answer."""

    text: str
    tone: Tone = Tone.PLAIN


class TextTable(NamedTuple):
    """Rows under a heading."""

    heading: tuple[str, ...]
    rows: list[tuple[Any, ...]]


Text = Sequence[TextLine | TextTable]

Answer = (
    Applied
    | BranchCreated
    | BranchDeleted
    | BranchDiff
    | Branches
    | DocumentList
    | FoundDocuments
    | History
    | MergeConflicts
    | MergePreview
    | Merged
)


def text_of(answer: Answer, width: int = VALUE_WIDTH) -> Text:
    """The text of an answer; a value in it is cut to a width."""
    match answer:
        case DocumentList():
            return _documents([(s.id, s.seq, s.document) for s in answer.states], width)
        case FoundDocuments():
            return _documents([(d.id, d.seq, d.document) for d in answer.documents], width)
        case History():
            return _history(answer)
        case Branches():
            return [_branches(answer)]
        case BranchDiff():
            return _diff(answer, width)
        case MergeConflicts():
            return _conflicts(answer, width)
        case MergePreview():
            changed = [TextLine(f"{one['op']} {one['id']}") for one in answer.operations]
            return [*changed, TextLine(f"{counted(len(changed), 'document')} would change")]
        case _:
            return [TextLine(_sentence(answer))]


def plain_text(answer: Answer, width: int = VALUE_WIDTH) -> str:
    """The text of an answer without colour; columns are two spaces apart."""
    lines: list[str] = []
    for part in text_of(answer, width):
        if isinstance(part, TextLine):
            lines.append(part.text)
        else:
            rows = [part.heading, *part.rows]
            lines += ["  ".join(map(str, row)) for row in rows]
    return "\n".join(lines)


def _sentence(answer: Applied | BranchCreated | BranchDeleted | Merged) -> str:
    match answer:
        case BranchCreated(branch):
            parent = branch.parent or DEFAULT_BRANCH
            return f"created {branch.name} from {parent} at seq {branch.fork_seq}"
        case BranchDeleted(branch):
            return f"deleted {branch.name}; it can still be read and forked"
        case Merged(source, target, applied):
            if applied is None:
                return "nothing to merge"
            changed = counted(len(applied.ids), "document")
            target = target or DEFAULT_BRANCH
            closed = f"; {source} is closed" if answer.closed else ""
            return f"merged {source} into {target} at seq {applied.seq}: {changed} changed{closed}"
        case _:
            return f"committed at seq {answer.seq}"


def _documents(documents: list[tuple[str, int, Any]], width: int) -> Text:
    if not documents:
        return [TextLine("no documents")]
    rows: list[tuple[Any, ...]] = []
    for id, seq, document in documents:
        value = document.get("value", document) if isinstance(document, dict) else document
        rows.append((id, seq, short_json(value, width)))
    return [TextTable(("id", "seq", "value"), rows)]


def document_line(id: str, seq: int, document: Any, width: int = VALUE_WIDTH) -> str:
    """A document of a list that is too long for a table."""
    value = document.get("value", document) if isinstance(document, dict) else document
    return f"{id}  {seq}  {short_json(value, width)}"


def _history(history: History) -> Text:
    if not history.entries:
        return [TextLine("no commits" if history.id is None else f"no commit wrote {history.id}")]
    rows: list[tuple[Any, ...]] = []
    for entry in history.entries:
        kind = _BRANCH_WORDS.get(entry.kind, entry.kind)
        what = ", ".join(f"{op} {id}" for op, id in entry.operations) or kind
        what = f"{entry.kind}: {what}" if entry.kind.startswith("merge") else what
        by = str(entry.author or entry.session)
        rows.append((entry.seq, entry.created_at, entry.branch or "-", by, what))
    return [TextTable(("seq", "when", "branch", "by", "what"), rows)]


def _branches(answer: Branches) -> TextTable:
    rows: list[tuple[Any, ...]] = [
        (
            branch.name or "(default)",
            "-" if branch.parent is None else branch.parent or "(default)",
            "-" if branch.fork_seq is None else branch.fork_seq,
            branch.head_seq,
            "merged" if branch.name in answer.merged else branch.status,
        )
        for branch in answer.branches
    ]
    return TextTable(("name", "parent", "forked at", "head", "status"), rows)


_BRANCH_WORDS = {"branch create": "branch created", "branch delete": "branch closed"}
"""A merge closes its branch, too; nothing of it is deleted."""
_SIGNS = {"added": ("+", Tone.ADDED), "removed": ("-", Tone.REMOVED)}


def _diff(answer: BranchDiff, width: int) -> Text:
    if not answer.documents:
        return [TextLine("no differences")]
    lines: list[TextLine] = []
    for document in answer.documents:
        sign, tone = _SIGNS.get(document.kind, ("~", Tone.CHANGED))
        lines.append(TextLine(f"{sign} {document.id}", tone))
        if document.kind == "modified":
            for change in document.changes:
                wire = change.to_wire()
                before, after = _value(wire, "before", width), _value(wire, "after", width)
                lines.append(TextLine(f"    {wire['path'] or '(all)'}: {before} → {after}"))
    return lines


def _conflicts(answer: MergeConflicts, width: int) -> Text:
    lines = [f"{counted(len(answer.clashes), 'conflict')}; nothing was written"]
    for clash in answer.clashes:
        wire = clash.to_wire()
        lines.append(f"  {clash.id} {wire['path'] or '(all)'}")
        lines.append(f"    {answer.source}: {_value(wire, 'sourceValue', width)}")
        lines.append(
            f"    {answer.target or 'default branch'}: {_value(wire, 'targetValue', width)}"
        )
        lines.append(f"    before: {_value(wire, 'ancestorValue', width)}")
    return [TextLine(line) for line in lines]


def _value(wire: dict[str, Any], name: str, width: int) -> str:
    return short_json(wire[name], width) if name in wire else "(nothing)"
