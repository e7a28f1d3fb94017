"""Messages, errors and close codes, as both sides of a connection know them."""
