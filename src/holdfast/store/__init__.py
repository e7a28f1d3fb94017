"""Documents on branches, written in transactions."""
