"""How much an answer has by default. Imports nothing: the help texts have these numbers."""

CALLS_DEFAULT = 20
"""How many calls of a symbol are listed."""
IMPACT_DEFAULT = 20
"""How many symbols that a change touches are listed."""
REFERENCES_DEFAULT = 60
"""How many mentions of a symbol are listed."""
