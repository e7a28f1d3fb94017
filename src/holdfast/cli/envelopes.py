"""Exit codes of the tools' answers: 0 for ok, 1 for an answer that says no."""

from __future__ import annotations

from collections.abc import Mapping

OK, REFUSED = 0, 1


def exit_code(answer: Mapping[str, object]) -> int:
    return OK if answer.get("status") == "ok" else REFUSED
