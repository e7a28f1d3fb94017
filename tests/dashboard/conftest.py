"""Temporary directories in memory, if `make quick` runs the tests."""

from tests.in_memory import tmp_path_factory

__all__ = ["tmp_path_factory"]
