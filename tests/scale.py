"""How long the property tests go on: short in CI, long under `make soak`."""

import os

SOAKING = bool(os.environ.get("HOLDFAST_SOAK"))


def examples(usual: int) -> int:
    """How many examples to try: the usual number, or twenty times as many."""
    return usual * 20 if SOAKING else usual
