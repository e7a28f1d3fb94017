"""Calls held against a type checker: basedpyright for Python, the TypeScript compiler for scripts."""
