"""Generations in one SQLite file for each root."""
