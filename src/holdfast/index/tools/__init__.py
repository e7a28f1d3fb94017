"""The tools as plain functions: each takes a `CodeIndex` and returns a typed answer."""
