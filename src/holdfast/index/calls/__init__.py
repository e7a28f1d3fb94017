"""Joining the facts of many files: which symbol each call reaches."""
