"""What commands share: exit codes, and how an answer is printed."""

from __future__ import annotations

import json
from collections.abc import Mapping

OK, REFUSED, USAGE, TRANSPORT = 0, 1, 2, 3


def print_json(answer: Mapping[str, object]) -> None:
    print(json.dumps(answer, indent=2, ensure_ascii=False))


def exit_code(answer: Mapping[str, object]) -> int:
    """0 for an answer that is ok, 1 for one that says no."""
    return OK if answer.get("status") == "ok" else REFUSED
