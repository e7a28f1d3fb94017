"""The twin: what the documents are after every commit, by the plainest means.

It keeps every state of every document and never forgets or shares anything. What clients and the
server believe is compared with it.
"""

from __future__ import annotations

import copy
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any

from holdfast.store import patch
from holdfast.store.delta import MISSING

Key = tuple[str, str]


@dataclass
class Line:
    """Every state a document had on a branch: seqs, and the document from each on."""

    seqs: list[int] = field(default_factory=list)
    states: list[Any] = field(default_factory=list)


@dataclass
class Look:
    """What a transaction saw at a path of a document."""

    id: str
    path: tuple[str, ...]
    value: Any


class Oracle:
    """Folds accepted commits, in seq order."""

    def __init__(self) -> None:
        self.seq = 0
        self.lines: dict[Key, Line] = {}
        self.forks: dict[str, int] = {}
        self.accepted: dict[tuple[str, int], int] = {}
        self.commits: dict[int, tuple[str, dict[str, Any]]] = {}

    def fork(self, name: str, seq: int) -> None:
        self.forks[name] = seq

    def landed(self, session: str, commit: dict[str, Any], seq: int) -> None:
        """The store accepted a commit; a replay of one that is known changes nothing."""
        key = (session, commit["localSeq"])
        if key in self.accepted:
            assert self.accepted[key] == seq, f"{key} landed twice: {self.accepted[key]} and {seq}"
            return
        assert seq == self.seq + 1, f"seq {seq} after {self.seq}"
        branch = commit.get("branch", "")
        for operation in commit["operations"]:
            line = self.lines.setdefault((branch, operation["id"]), Line())
            document = self.at(branch, operation["id"], seq)
            match operation["op"]:
                case "set":
                    document = operation["value"]
                case "delete":
                    document = None
                case "patch":
                    document = patch.apply_to_document(document, operation["patches"])
                case unknown:
                    raise AssertionError(f"no such operation: {unknown}")
            if line.seqs and line.seqs[-1] == seq:
                line.states[-1] = copy.deepcopy(document)
            else:
                line.seqs.append(seq)
                line.states.append(copy.deepcopy(document))
        self.seq = seq
        self.accepted[key] = seq
        self.commits[seq] = (session, commit)

    def at(self, branch: str, id: str, seq: int) -> Any:
        """The document as of a seq; None if there is none."""
        line = self.lines.get((branch, id))
        place = 0 if line is None else bisect_right(line.seqs, seq)
        if line is not None and place:
            return line.states[place - 1]
        if branch in self.forks:
            return self.at("", id, min(seq, self.forks[branch]))
        return None

    def place(self, branch: str, id: str, path: tuple[str, ...], seq: int) -> Any:
        """One place of a document as of a seq; `MISSING` if it cannot be reached."""
        node = self.at(branch, id, seq)
        if node is None:
            return MISSING
        for token in path:
            if isinstance(node, dict):
                node = node.get(token, MISSING)
            elif isinstance(node, list):
                if token == "length":
                    node = len(node)
                else:
                    index = int(token) if token.isdigit() else len(node)
                    node = node[index] if index < len(node) else MISSING
            else:
                return MISSING
        return node
