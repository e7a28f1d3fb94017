"""The base of typed answers: frozen, with one JSON form."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, to_builtins


class Part(Struct, frozen=True, rename="camel", omit_defaults=True):
    """An answer, or a part of one.

    On the wire, names are in camelCase, and a field that has its default is left out.
    """

    def to_wire(self) -> dict[str, Any]:
        wire: dict[str, Any] = _with_lists(to_builtins(self))
        return wire


def _with_lists(value: Any) -> Any:
    """The value with lists for tuples, as JSON would return it."""
    if isinstance(value, dict):
        return {name: _with_lists(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_with_lists(member) for member in value]
    return value
