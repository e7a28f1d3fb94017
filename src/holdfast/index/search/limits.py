"""Choices and limits of a search. Imports little, because `holdfast search --help` shows them."""

from typing import Literal

Scope = Literal["runtime", "mixed", "docs"]
SCOPES: tuple[Scope, ...] = ("runtime", "mixed", "docs")

LIMIT_DEFAULT, LIMIT_MAX = 10, 50
"""How many results a page has, and at most."""
BUDGET_DEFAULT, BUDGET_MIN = 8_000, 100
"""How many tokens the results of a page may take."""
