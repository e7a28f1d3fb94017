"""WebSocket close codes, as we use them."""

NORMAL = 1000
UNSUPPORTED = 1003
"""A non-text frame."""
INVALID_TEXT = 1007
POLICY = 1008
"""A limit was exceeded, or the peer may not connect."""
TOO_BIG = 1009
BROKEN = 1011
"""An internal failure; requests that were not answered have no answer."""
RESTARTING = 1012
"""The server is stopping; come back."""
TRY_AGAIN = 1013
"""The database is unreachable; come back, here or elsewhere."""
