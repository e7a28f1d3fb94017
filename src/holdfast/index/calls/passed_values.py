"""The expression that a call passes to a parameter, by its place or its name."""

from __future__ import annotations

from collections.abc import Sequence

FAR = 1_000
"""The place of a parameter behind `*args`, which is passed only by its name."""


def given(
    passed: Sequence[str], name: str, parameters: list[str], spread: str, by_name: bool = False
) -> str:
    """The expression that a call passes to a parameter; "" when it is not known."""
    place = parameters.index(name) if not by_name else FAR
    by_key = dict(each.partition("=")[::2] for each in passed)
    if spread == "*":
        rest = [
            v
            for k, v in by_key.items()
            if k.rstrip("*").isdecimal() and int(k.rstrip("*")) >= place
        ]
        stars = [
            k.endswith("*")
            for k in by_key
            if k.rstrip("*").isdecimal() and int(k.rstrip("*")) >= place
        ]
        parts = [f"*{v}" if star else v for v, star in zip(rest, stars, strict=True)]
        return f"[{','.join(parts)}]" if parts else ""
    if spread == "**":
        named = [f"{k}:{v}" for k, v in by_key.items() if k.isidentifier() and k not in parameters]
        return f"{{{','.join(named)}}}" if named else by_key.get("**", "")
    value = by_key.get(name) or by_key.get(str(place)) or ""
    if value:
        return value
    parts = []
    for key, value in by_key.items():
        if key == "**":
            parts.append(f"({value})['{name}']")
        elif key.endswith("*") and int(key[:-1]) <= place:
            parts.append(f"({value})[{place - int(key[:-1])}]")
    return "|".join(parts)


def without_first(passed: Sequence[str]) -> list[str]:
    """The arguments behind the first one, each a place further to the front."""
    moved = []
    for each in passed:
        key, _, value = each.partition("=")
        place = key.rstrip("*")
        if not place.isdecimal():
            moved.append(each)
        elif int(place):
            moved.append(f"{int(place) - 1}{key[len(place) :]}={value}")
    return moved
