"""The command line: one file per command; speaks to people and decides nothing."""
