"""Limits of a search answer. Imports nothing, because `holdfast search --help` shows them."""

LIMIT_DEFAULT, LIMIT_MAX = 10, 50
"""How many results a page has."""
BUDGET_DEFAULT, BUDGET_MIN = 8_000, 100
"""How many tokens the results of a page may take."""
