"""The tools over MCP: a thin shim for each agent, and one background host that serves them all.

    agent --stdio--> shim (imports almost nothing) --Unix socket--> host (the SDK) --> tools

The tools decide nothing: each calls what the commands call, and turns the answer into text an agent
can act on and structured content with the same facts.
"""
