"""One file of source turned into symbols, imports, calls and chunks, without I/O."""
