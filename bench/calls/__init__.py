"""Calls held against a type checker: basedpyright, and the TypeScript compiler."""
