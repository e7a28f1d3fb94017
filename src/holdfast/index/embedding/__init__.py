"""Turning text into vectors, behind one small interface."""
