"""Change the weights of a ranking by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace


def weighed(weights: Any, changes: Mapping[str, Any]) -> Any:
    """The same weights with some changed: `{"stem": 0.5, "dense": {"question": 0.9}}`.

    A dotted name changes a part: `{"dense.question": 0.9}`. An unknown name is an error.
    """
    for name, value in changes.items():
        first, _, rest = name.partition(".")
        if not hasattr(weights, first):
            raise SystemExit(f"unknown weight {first!r} in {type(weights).__name__}")
        if rest:
            value = {rest: value}
        if isinstance(value, Mapping):
            part = getattr(weights, first)
            if not isinstance(part, msgspec.Struct):
                raise SystemExit(f"the weight {first!r} has no parts")
            value = weighed(part, value)
        weights = replace(weights, **{first: value})
    return weights
