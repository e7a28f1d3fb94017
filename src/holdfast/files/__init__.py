"""A directory tree as data: which files count, what they held, what changed since."""
