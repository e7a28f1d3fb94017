"""Answering a read in few tokens, honestly."""
