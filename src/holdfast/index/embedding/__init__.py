"""Embeddings: text to vectors, behind one small interface."""
