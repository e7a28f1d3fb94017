"""Ranking: every lane ranks the same chunks, and the lanes are fused."""
