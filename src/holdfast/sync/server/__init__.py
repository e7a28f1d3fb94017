"""The server without sockets or clocks: sessions, watches, commits and notifications."""
