"""Sockets, loops and timers for the server and the client."""
