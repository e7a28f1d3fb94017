"""What runs in a process of its own for each system and repository.

A worker is called with two paths: the job (root, queries, limit) and where to put what it found.
`semble.py` runs in an environment without Holdfast and imports nothing of ours.
"""
