"""A directory tree as data."""
