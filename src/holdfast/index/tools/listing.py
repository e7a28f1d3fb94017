"""list_codebases: every tracked root and its state, in one order, whatever the backend does.

A read. Membership is the registry's; a probe can move a root between sections, and only a probe
that finished.
"""

from __future__ import annotations

from typing import TypedDict

from holdfast.index.code_index import CodeIndex
from holdfast.index.generations.gate import (
    Building,
    Failed,
    Incompatible,
    NotTracked,
    Open,
    Unproven,
    fingerprint_gate,
    pass_gate,
)
from holdfast.index.generations.proof import Proof, failed_probe
from holdfast.index.generations.record import Record, partial
from holdfast.index.tools.answers import Wire

SECTIONS = ("Ready", "Indexing", "Requires Reindex", "Failed")
EMPTY = (
    "No codebases are currently tracked.\n"
    "To track one, call manage_index with action='create' and its path."
)


class ListAnswer(TypedDict):
    """The answer of list_codebases: text for reading, and the same as data."""

    status: str
    text: str
    codebases: list[Wire]
    total: int


def list_codebases(index: CodeIndex) -> ListAnswer:
    records = index.registry.records()
    runtime = index.runtime()
    probed = [r for r in records.values() if r.searchable and not fingerprint_gate(r, runtime)]
    roots = [record.root for record in probed]
    proofs = dict(zip(roots, index.prober.prove_all(roots), strict=True))
    rows = [_row(index, record, proofs.get(root)) for root, record in records.items()]
    # By bytes, so that the order is the same everywhere.
    rows.sort(key=lambda row: (SECTIONS.index(row[1]), row[0].encode("utf-8", "surrogatepass")))
    return {
        "status": "ok",
        "text": _text(rows),
        "codebases": [
            {"path": path, "section": section, "detail": detail or None}
            for path, section, detail in rows
        ],
        "total": len(rows),
    }


def _row(index: CodeIndex, record: Record, proof: Proof | None) -> tuple[str, str, str]:
    gate = pass_gate(record, index.runtime(), lambda: proof or failed_probe("not probed"))
    match index.with_abandoned_check(gate):
        case Open(_, _, failure):
            said = ["completion-proof probe failed"] if failure else []
            if partial(record):
                said.append("partial: the limit of chunks was reached")
            left = record.unseen
            said += [f"{left.unreadable} parts unreadable"] if left.unreadable else []
            said += [f"{left.unnameable} names left out"] if left.unnameable else []
            return record.root, "Ready", ", ".join(said)
        case Building(_, progress, abandoned=True):
            at = f"{progress.progress_pct:.1f}%"
            return record.root, "Failed", f"abandoned at {at}: its writer is gone"
        case Building(_, progress):
            return record.root, "Indexing", f"{progress.progress_pct:.1f}%"
        case Incompatible(_, _, reason):
            return record.root, "Requires Reindex", reason or "unknown"
        case Unproven(_, reason):
            return record.root, "Failed", f"stale_local:{reason.value}"
        case Failed(_, failure):
            return record.root, "Failed", failure.error or "unknown"
        case NotTracked():
            raise AssertionError("a record is tracked")


def _text(rows: list[tuple[str, str, str]]) -> str:
    if not rows:
        return EMPTY
    lines = ["## Codebases"]
    for section in SECTIONS:
        members = [(path, detail) for path, of, detail in rows if of == section]
        if members:
            lines += ["", f"### {section}"]
            lines += [
                f"- {_on_its_line(path)}{f' ({_on_its_line(detail)})' if detail else ''}"
                for path, detail in members
            ]
    lines += ["", f"Total tracked: {len(rows)}"]
    return "\n".join(lines)


def _on_its_line(text: str) -> str:
    """A name may hold a line break, which would look like another root."""
    return text if text.isprintable() else repr(text)
