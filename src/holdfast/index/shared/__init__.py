"""What a team shares of its indexes: work done on files, and generations of commits."""
