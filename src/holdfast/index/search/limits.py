"""How much a search may answer. Imports nothing: `holdfast search --help` has these numbers."""

LIMIT_DEFAULT, LIMIT_MAX = 10, 50
"""How many results a page has."""
BUDGET_DEFAULT, BUDGET_MIN = 8_000, 100
"""How many tokens the results of a page may take."""
