"""Generations in PostgreSQL."""
