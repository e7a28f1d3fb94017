"""Notes: short texts in memory, linked to the code they are about.

A note is an ordinary document. `note.py` has its shape, `find.py` ranks documents by words and
meaning, `near_code.py` finds the notes that are about some lines of code, and `review.py` shows the
changes of a branch beside the code they are about. Store, index and links meet here.
"""
