"""The tools over MCP, driven by real clients."""
