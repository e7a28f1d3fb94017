"""The tools over MCP: a thin shim for each agent, and one background host that serves them all.

    agent --stdio--> shim (imports almost nothing) --Unix socket--> host (the SDK) --> tools

A tool calls the same function as the command of that name. It turns the answer into text for the
agent and structured content with the same facts.
"""
