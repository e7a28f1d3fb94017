"""Benchmarks: `python -m bench`; ratios against a baseline in the same run."""
