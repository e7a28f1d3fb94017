"""What a campaign tried, what happened, and what should not have happened."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Result:
    """The outcomes of one campaign. `problems` is empty when every promise was kept."""

    outcomes: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    @property
    def tried(self) -> int:
        return self.outcomes.total()

    def count(self, outcome: str, times: int = 1) -> None:
        self.outcomes[outcome] += times

    def problem(self, what: str) -> None:
        self.problems.append(what)

    def kept_every_promise(self) -> None:
        assert not self.problems, "\n".join(
            [f"{len(self.problems)} problems:", *self.problems[:40]]
        )
