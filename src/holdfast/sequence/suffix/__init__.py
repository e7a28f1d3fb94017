"""Suffix arrays over token streams: the kernels, in several languages of speed, one meaning.

A stream is documents of token ids (1 and up), each followed by the separator 0. No repeat, no
match and no neighbour reaches over a separator.
"""

SEPARATOR = 0
