"""The contents of a source tree, indexed, with proof that the index is complete."""
