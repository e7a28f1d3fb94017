"""Explains how a read would be answered: the session, the candidates, the decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from holdfast.reading import scope as scopes
from holdfast.reading.answer import Case
from holdfast.reading.scope import Lines, Scope
from holdfast.reading.tree import Doubt, Evidence, beginning
from holdfast.reading.trust import choose_base

REASONS = {
    "no_base_hash": "because no earlier read of it counts",
    "bypass_cache": "because the plain text was requested",
    "hash_match": "because the text on disk is the text that was read",
    "range_slice_unchanged": "because these lines are as they were read",
    "range_slice_changed": "because these lines have changed",
    "base_object_missing": "because the text that was read is no longer stored",
    "diff_file_too_large_bytes": "because the file is too large for a diff",
    "diff_file_too_large_lines": "because the file has too many lines for a diff",
    "diff_unavailable_or_empty": "because no diff could be made",
    "diff_not_useful": "because a diff would be almost as long",
    "diff_payload_truncated": "because a diff would be cut",
    "diff_emitted": "because the file has changed",
}
"""The reasons of `meta.REASONS`, in words."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that the model holds and that the answer could be based on."""

    scope: Scope
    digest: str
    seq: int
    current: bool
    """Whether it is the text on disk."""
    chosen: bool

    def to_wire(self) -> dict[str, Any]:
        return {
            "scope": scopes.key(self.scope),
            "digest": self.digest,
            "seq": self.seq,
            "current": self.current,
            "chosen": self.chosen,
        }

    def to_text(self) -> str:
        state = "as it is now" if self.current else "older text"
        chosen = "; the answer is based on it" if self.chosen else ""
        return f"{_scope(self.scope)}, read in entry {self.seq}: {state}{chosen}"


@dataclass(frozen=True, slots=True)
class Explanation:
    """What decides one read. Making it answers and records nothing."""

    path: str
    mode: str | None
    evidence: Evidence | Doubt
    digest: str
    lines: int
    candidates: tuple[Candidate, ...]
    blocked: tuple[Lines, ...]
    """Lines that were refreshed and not printed since."""
    reason: str | None = None
    scope: Scope | None = None
    base: str | None = None

    def to_wire(self) -> dict[str, Any]:
        blocked = [{"scope": scopes.key(run), "blocked": True} for run in self.blocked]
        out: dict[str, Any] = {
            "path": self.path,
            "session": _session(self.evidence),
            "digest": self.digest,
            "lines": self.lines,
            "candidates": [candidate.to_wire() for candidate in self.candidates] + blocked,
            "mode": self.mode,
        }
        if self.reason is not None and self.scope is not None:
            out |= {"reason": self.reason, "scope": scopes.key(self.scope), "base": self.base}
        return out

    def to_text(self) -> str:
        lines = [self.path]
        if isinstance(self.evidence, Doubt):
            lines.append(f"the session proves nothing: {self.evidence.why}")
        else:
            since = beginning(self.evidence.boundary)
            lines.append(f"session {self.evidence.session}: what was read since {since} counts")
        lines += [f"  {candidate.to_text()}" for candidate in self.candidates]
        lines += [
            f"  {_scope(run)}: refreshed and not printed since, so it does not count"
            for run in self.blocked
        ]
        mode = (self.mode or "plain text").replace("_", " ")
        lines.append(f"answer: {mode}{f', {REASONS[self.reason]}' if self.reason else ''}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class NeverKept:
    """A file whose text is never kept, so that every read of it is answered in full."""

    path: str
    why: str = "an image or a sensitive name: always in full"

    def to_wire(self) -> dict[str, Any]:
        return {"path": self.path, "mode": None, "why": self.why}

    def to_text(self) -> str:
        return f"{self.path}\nanswer: plain ({self.why})"


def explain(case: Case, evidence: Evidence | Doubt) -> Explanation:
    """Explain how this case is decided."""
    current, path, holdings = case.current, case.target.path, case.holdings
    chosen = None
    lines = scopes.clamp(case.target.offset, case.target.limit, current.lines_total)
    if lines is not None:
        scope = scopes.of(lines, current.lines_total)
        chosen = choose_base(holdings, path, scope, union=case.policy.union)
    candidates = tuple(
        Candidate(scope, trust.digest, trust.seq, trust.digest == current.digest, trust == chosen)
        for scope, trust in holdings.scopes(path).items()
    )
    answer = case.answer()
    meta = answer.meta
    return Explanation(
        path,
        answer.mode,
        evidence,
        current.digest,
        current.lines_total,
        candidates,
        tuple(sorted(holdings.ledger.blocked(path))),
        None if meta is None or meta.why is None else meta.why.reason,
        None if meta is None else meta.scope,
        None if meta is None else meta.base,
    )


def _scope(scope: Scope) -> str:
    return f"lines {scope.first}-{scope.last}" if isinstance(scope, Lines) else "the whole file"


def _session(evidence: Evidence | Doubt) -> dict[str, Any]:
    if isinstance(evidence, Doubt):
        return {"proves": False, "why": evidence.why}
    return {
        "proves": True,
        "id": evidence.session,
        "leaf": evidence.leaf,
        "boundary": evidence.boundary,
        "branch_point": evidence.branch_point,
    }
