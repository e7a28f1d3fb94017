"""The command line: one file per command, which parses, calls a verb and prints its answer."""
