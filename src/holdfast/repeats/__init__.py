"""The repeated blocks of a tree: where trees, git, index and sequence meet.

`App.find_clones` is what the command, the tool and the dashboard call. It takes a kept answer
(`answer_cache.py`) if the files prove that it is still right, and otherwise finds the blocks
(`find.py`).
"""
