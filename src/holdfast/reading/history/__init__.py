"""Whole conversations from agents' logs, for looking back at them: one reader per agent."""
