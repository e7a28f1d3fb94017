"""WebSocket close codes, as we use them."""

NORMAL = 1000
UNSUPPORTED = 1003
"""A frame that is no text."""
INVALID_TEXT = 1007
POLICY = 1008
"""A limit was passed, or who asks may not."""
TOO_BIG = 1009
BROKEN = 1011
"""A failure here; what was on its way has no answer."""
RESTARTING = 1012
"""The server is stopping; come back."""
TRY_AGAIN = 1013
"""The database is away; come back, here or elsewhere."""
