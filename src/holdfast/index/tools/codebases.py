"""list_codebases: every tracked root and its state, in a stable order.

Read-only. The registry says which roots are tracked; only a proof check that finished can move a
root between sections.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

from msgspec.structs import replace

from holdfast.index.answers import Codebase, CodebasesAnswer, Section
from holdfast.index.code_index import CodeIndex
from holdfast.index.generations.gate import (
    Building,
    Failed,
    Gate,
    Incompatible,
    NotTracked,
    Open,
    TooNew,
    Unproven,
    fingerprint_gate,
    pass_gate,
)
from holdfast.index.generations.proof import Proof, failed_probe
from holdfast.index.generations.record import PARTIAL, Record, partial
from holdfast.index.tools.render import codebases_text
from holdfast.text import counted

SECTIONS: tuple[Section, ...] = get_args(Section)


def list_codebases(index: CodeIndex, *, verify: bool = False) -> CodebasesAnswer:
    """Every tracked root; with `verify`, after reading all stored data."""
    check = index.verified if verify else index.spot_checked
    records = index.registry.records()
    runtime = index.runtime()
    probed = [r for r in records.values() if r.searchable and not fingerprint_gate(r, runtime)]
    roots = [record.root for record in probed]
    proofs = dict(zip(roots, index.prober.prove_all(roots), strict=True))
    codebases = [
        _codebase(index, record, proofs.get(root), check) for root, record in records.items()
    ]
    # By bytes, so that the order does not depend on the locale.
    codebases.sort(
        key=lambda c: (SECTIONS.index(c.section), c.path.encode("utf-8", "surrogatepass"))
    )
    text = codebases_text(codebases)
    return CodebasesAnswer(status="ok", text=text, codebases=tuple(codebases), total=len(codebases))


def only(answer: CodebasesAnswer, shown: Callable[[str], bool]) -> CodebasesAnswer:
    """The same answer, restricted to roots that the caller may see."""
    codebases = tuple(one for one in answer.codebases if shown(one.path))
    return replace(
        answer, text=codebases_text(codebases), codebases=codebases, total=len(codebases)
    )


def _codebase(
    index: CodeIndex, record: Record, proof: Proof | None, check: Callable[[Gate], Gate]
) -> Codebase:
    gate = pass_gate(record, index.runtime(), lambda: proof or failed_probe("not probed"))
    match check(index.with_details(gate)):
        case Open(_, _, failure):
            origin = index.origin(record.root)
            notes = [] if origin is None else [origin]
            if failure:
                notes.append("completion-proof probe failed")
            if partial(record):
                notes.append(PARTIAL)
            left = record.unseen
            if left.unreadable:
                notes.append(f"{counted(left.unreadable, 'part')} unreadable")
            if left.unnameable:
                notes.append(f"{counted(left.unnameable, 'name')} left out")
            if left.unparsed:
                count = len(left.unparsed) + left.unparsed_more
                notes.append(f"{counted(count, 'file')} kept as plain text")
            return Codebase(record.root, "Ready", ", ".join(notes) or None)
        case Building(_, progress, abandoned):
            # The same section as in the status of other tools, even if the writer is dead.
            gone = ", abandoned: its writer is gone" if abandoned else ""
            return Codebase(record.root, "Indexing", f"{progress.progress_pct:.1f}%{gone}")
        case Incompatible(_, _, reason):
            return Codebase(record.root, "Requires Reindex", reason or "unknown")
        case Unproven(_, reason):
            return Codebase(record.root, "Failed", f"stale_local:{reason.value}")
        case TooNew(_, detail):
            return Codebase(record.root, "Failed", f"newer_format: {detail}")
        case Failed(_, failure):
            return Codebase(record.root, "Failed", failure.error or "unknown")
        case NotTracked():
            raise AssertionError("a record is tracked")
