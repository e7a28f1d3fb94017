"""Source text as tokens: identifiers, numbers, strings, operators, each with its position."""
