"""Plays pairs of texts with the reference's own diff of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from holdfast.reading import diff, javascript
from tests.conformance.players import Case
from tests.reading import window


def cases(folder: Path) -> Iterator[Case]:
    for file in sorted(folder.glob("*.json")):
        for number, case in enumerate(json.loads(file.read_text(encoding="utf-8"))["cases"]):
            yield f"{file.stem}-{number}", _player(case)


def _player(case: dict[str, Any]) -> Callable[[], None]:
    def play() -> None:
        base, current = case["base"], case["cur"]
        patch = diff.compute(base, current, case.get("path", "f.txt"))
        if case["diff"] is None:
            assert patch is None
            return
        assert isinstance(patch, diff.Patch)
        # The reference trims white space off the end of a patch, and with it lines of the file.
        # Ours is whole: trimmed it must be the recorded one, untrimmed it must give the text.
        assert javascript.trim_end(patch.text) == case["diff"]
        assert window.apply_patch(base, patch.text) == current
        # The reference does not count changed lines that begin with `++` or `--`: we do.
        rows = window.body(patch.text)
        assert patch.added == sum(row.startswith("+") for row in rows)
        assert patch.removed == sum(row.startswith("-") for row in rows)
        trimmed = case["diff"].split("\n")[2:]
        added = sum(row.startswith("+") and not row.startswith("+++") for row in trimmed)
        removed = sum(row.startswith("-") and not row.startswith("---") for row in trimmed)
        assert (added, removed) == (case["added"], case["removed"])
        assert patch.changed >= case["changed"] == max(added, removed)
        trimmed_patch = diff.Patch(case["diff"], patch.added, patch.removed)
        assert diff.is_useful(trimmed_patch, base, current) is case["useful"]

    return play
