"""Validate and normalise a schema.

The rest of the package can rely on its form, and two schemas with the same effect have the same
text: keywords without effect are dropped, and lists of names are sorted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from holdfast.store.errors import QueryError

DEPTH_MAX = 64
"""How deep a schema may nest, and how many combinators may open at one node."""

SIZE_MAX = 20_000
"""How many subschemas one schema may contain."""

ANNOTATIONS = frozenset({"default", "$defs", "ifc", "asCell", "asStream"})
"""Keywords that do not restrict a schema."""

_REPEAT = "name repeated parts in $defs and use $ref"


def checked(raw: object) -> dict[str, Any] | bool:
    """`raw` reduced to the keywords with an effect; raises QueryError if one is malformed."""
    try:
        return _reduced(raw)
    except RecursionError:  # the caller's stack was nearly full
        raise _too_deep() from None


def _reduced(raw: object) -> dict[str, Any] | bool:
    count = 0

    def schema(raw: object, where: tuple[str, ...]) -> dict[str, Any] | bool:
        nonlocal count
        count += 1
        if count > SIZE_MAX:
            raise QueryError(f"a selector schema contains more than {SIZE_MAX} subschemas", _REPEAT)
        if isinstance(raw, bool):
            return raw
        if len(where) > 2 * DEPTH_MAX:
            raise _too_deep()
        if not isinstance(raw, dict):
            raise _malformed(where, raw, "an object or a boolean")
        plain: dict[str, Any] = {}
        for keyword, value in raw.items():
            here = (*where, str(keyword))
            match keyword:
                case "properties" | "$defs":
                    if not isinstance(value, dict) or not all(isinstance(k, str) for k in value):
                        raise _malformed(here, value, "an object of schemas")
                    plain[keyword] = {k: schema(v, (*here, k)) for k, v in value.items()}
                case "additionalProperties" | "items":
                    plain[keyword] = schema(value, here)
                case "prefixItems" | "anyOf" | "oneOf" | "allOf":
                    if not isinstance(value, list | tuple):
                        raise _malformed(here, value, "a list of schemas")
                    plain[keyword] = [schema(v, (*here, str(i))) for i, v in enumerate(value)]
                case "type":
                    plain[keyword] = _names([value] if isinstance(value, str) else value, here)
                case "required":
                    plain[keyword] = _names(value, here)
                case "$ref":
                    if not isinstance(value, str):
                        raise _malformed(here, value, "a string")
                    plain[keyword] = value
                case "not":
                    if schema(value, here) is True:
                        return False
                case _:
                    pass
        if raw.keys() <= ANNOTATIONS:
            return True
        # A schema with only a title accepts everything but, unlike `true`, overrides a link.
        return plain if plain.keys() - {"$defs"} else {**plain, "": True}

    return schema(raw, ())


def _too_deep() -> QueryError:
    return QueryError(f"a selector schema nests more than {DEPTH_MAX} deep", _REPEAT)


def _names(value: object, where: tuple[str, ...]) -> list[str]:
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) for name in value):
        raise _malformed(where, value, "a list of strings")
    return sorted(set(value))


def _malformed(where: Iterable[str], value: object, expected: str) -> QueryError:
    pointer = "".join(f"/{token}" for token in where) or "its root"
    return QueryError(f"selector schema at {pointer} must be {expected}, not {_named(value)}")


def _named(value: object) -> str:
    names = {
        dict: "an object",
        list: "a list",
        str: "a string",
        type(None): "null",
        bool: "a boolean",
    }
    return names.get(
        type(value), "a number" if isinstance(value, int | float) else type(value).__name__
    )
