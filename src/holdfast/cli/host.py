"""The process of the background host: the tools for agents, hooks, and commands."""

from __future__ import annotations

import sys

from holdfast.cli.hosting import CommandService
from holdfast.mcp.host import main

if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:], CommandService))
