"""Holdfast: a local-first context engine for coding agents.

An answer carries its proof, or it is the plain safe answer.
"""

__version__ = "0.1.0"
