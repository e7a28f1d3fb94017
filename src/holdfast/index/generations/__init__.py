"""What an index keeps for each root, and the proof that it is complete."""
