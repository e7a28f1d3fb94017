"""memory_note, memory_get, memory_query, memory_history, memory_commit, memory_branch.

Documents may link to code; a link gets the digest of the code when it is committed, and later
readers of the document are told which links have drifted since.
"""

from holdfast.mcp.tools.memory.branches import MEMORY_BRANCH
from holdfast.mcp.tools.memory.commits import MEMORY_COMMIT
from holdfast.mcp.tools.memory.notes import MEMORY_NOTE
from holdfast.mcp.tools.memory.queries import MEMORY_GET, MEMORY_HISTORY, MEMORY_QUERY

__all__ = [
    "MEMORY_BRANCH",
    "MEMORY_COMMIT",
    "MEMORY_GET",
    "MEMORY_HISTORY",
    "MEMORY_NOTE",
    "MEMORY_QUERY",
]
