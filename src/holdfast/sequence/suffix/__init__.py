"""Suffix arrays over token streams.

A stream is a list of documents of token ids (from 1), each followed by the separator 0. No repeat,
match or neighbour extends over a separator.
"""

SEPARATOR = 0
