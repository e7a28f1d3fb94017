"""How long the property tests go on: short in `make quick`, usual in CI, long under `make soak`."""

import os

SOAKING = bool(os.environ.get("HOLDFAST_SOAK"))
QUICK = bool(os.environ.get("HOLDFAST_QUICK"))


def examples(usual: int) -> int:
    """How many examples to try: the usual number, a tenth of it, or twenty times as many."""
    if QUICK:
        return max(2, usual // 10)
    return usual * 20 if SOAKING else usual
