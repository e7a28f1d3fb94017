"""Every tool, one file for each or for a family. They import what they need when they run."""

from __future__ import annotations

from holdfast.mcp.tool import Tool
from holdfast.mcp.tools.context import CONTEXT
from holdfast.mcp.tools.edit import EDIT_SYMBOL
from holdfast.mcp.tools.explore import EXPLORE
from holdfast.mcp.tools.graph import CALL_GRAPH
from holdfast.mcp.tools.impact import IMPACT
from holdfast.mcp.tools.manage import LIST_CODEBASES, MANAGE_INDEX
from holdfast.mcp.tools.memory import (
    MEMORY_BRANCH,
    MEMORY_COMMIT,
    MEMORY_GET,
    MEMORY_HISTORY,
    MEMORY_NOTE,
    MEMORY_QUERY,
)
from holdfast.mcp.tools.outline import FILE_OUTLINE
from holdfast.mcp.tools.read import READ
from holdfast.mcp.tools.readcache import READCACHE_REFRESH, READCACHE_STATUS
from holdfast.mcp.tools.recover import RECOVER
from holdfast.mcp.tools.references import REFERENCES
from holdfast.mcp.tools.search import SEARCH_CODE
from holdfast.mcp.tools.sequence import CLONES, LOCATE

TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        READ,
        READCACHE_REFRESH,
        READCACHE_STATUS,
        CONTEXT,
        RECOVER,
        SEARCH_CODE,
        FILE_OUTLINE,
        CALL_GRAPH,
        REFERENCES,
        EXPLORE,
        IMPACT,
        EDIT_SYMBOL,
        MANAGE_INDEX,
        LIST_CODEBASES,
        LOCATE,
        CLONES,
        MEMORY_NOTE,
        MEMORY_GET,
        MEMORY_COMMIT,
        MEMORY_QUERY,
        MEMORY_HISTORY,
        MEMORY_BRANCH,
    )
}
"""By name, in the order that `tools/list` shows."""
