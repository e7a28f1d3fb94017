"""Holdfast on hostile ground. `python -m tests.hostile` runs every campaign."""
