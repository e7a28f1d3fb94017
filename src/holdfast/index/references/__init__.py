"""Who mentions a symbol: calls, imports, types, base classes, values and writes."""
