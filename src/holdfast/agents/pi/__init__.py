"""What Holdfast installs into pi, which has no MCP: an extension."""
