"""Whole tasks, through public verbs."""
