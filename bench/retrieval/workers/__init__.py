"""The programs that run in a separate process for each system and repository.

A worker gets two paths: the job (root, queries, limit) and the file for its results.
`semble_alone.py` runs in an environment without Holdfast and imports nothing from this project.
"""
