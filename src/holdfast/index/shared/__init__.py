"""Shared indexes of a team: prepared files, and generations of commits."""
