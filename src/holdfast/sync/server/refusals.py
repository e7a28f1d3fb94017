"""An error as it goes over the wire: its name, its message, and the details a peer understands."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.store.errors import ConflictError
from holdfast.sync.wire.errors import RateLimited
from holdfast.sync.wire.messages import Refused


def refused(error: HoldfastError, capabilities: Set[str]) -> Refused:
    """Why a request was refused, for a peer with these capabilities."""
    more: dict[str, Any] = {}
    if "conflicts" in capabilities:
        if error.hint:
            more["hint"] = error.hint
        if isinstance(error, ConflictError):
            more["conflicts"] = [conflict.to_wire() for conflict in error.conflicts]
            if error.retry_after_seq is not None:
                more["retry_after_seq"] = error.retry_after_seq
    if isinstance(error, RateLimited):
        more["retry_after"] = error.retry_after_ms
    name = str(getattr(error, "name", "TransactionError"))
    return Refused(name=name, message=str(error), **more)
