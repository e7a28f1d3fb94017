"""Reads and checks the parameters of a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from holdfast.errors import UsageError

Members = Mapping[str, str]
T = TypeVar("T", bound=str)


def one_of(params: Members, name: str, accepted: Sequence[T]) -> T:
    """The value of a member; the first accepted one when it is missing."""
    value = params.get(name) or accepted[0]
    for one in accepted:
        if one == value:
            return one
    raise UsageError(f"{name} must be one of {', '.join(map(str, accepted))} (got {value!r})")


def need(params: Members, name: str) -> str:
    value = params.get(name, "")
    if not value.strip():
        raise UsageError(f"{name} is missing")
    return value


def number(params: Members, name: str, otherwise: int) -> int:
    text = params.get(name, "")
    if not text:
        return otherwise
    if not text.isascii() or not text.isdigit() or len(text) > 15:
        raise UsageError(f"{name} is not a number: {text!r}")
    return int(text)
