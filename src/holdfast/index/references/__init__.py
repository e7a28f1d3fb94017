"""Where a symbol is mentioned: calls, imports, types, base classes, values and writes."""
