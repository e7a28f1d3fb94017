"""The tools as plain functions: each takes a `CodeIndex` and answers with an envelope."""
