"""Reads that need an open gate: refused before they begin, or when the index fails during them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from holdfast.index.code_index import CodeIndex
from holdfast.index.errors import BackendUnavailable, DamagedBackend
from holdfast.index.generations.gate import Gate, Open
from holdfast.index.generations.record import Record

AnswerType = TypeVar("AnswerType")


def read_if_open(
    index: CodeIndex,
    record: Record | None,
    refuse: Callable[[Gate], AnswerType],
    read: Callable[[Open], AnswerType],
) -> AnswerType:
    """What `read` returns, or `refuse` of the closed gate.

    An error of the backend is raised only if the gate is still open after it.
    """
    gate = index.gate(record)
    if not isinstance(gate, Open):
        return refuse(gate)
    try:
        return read(gate)
    except BackendUnavailable:
        again = index.gate(index.registry.find(gate.record.root))
        if isinstance(again, Open):
            raise
        return refuse(again)
    except DamagedBackend as error:
        return refuse(index.damaged(gate.record, error))
