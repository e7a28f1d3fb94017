"""The embedding model: its card, and how it is trained."""
