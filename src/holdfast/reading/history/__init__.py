"""Whole past conversations from agents' logs: one reader per agent."""
