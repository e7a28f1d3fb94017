"""Which tools a client sees: each one costs tokens in every conversation.

A client gets the toolsets that it was installed with (`holdfast mcp --tools search,read`), without
the tools that cannot work for it. A tool that is not listed can still be called.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from holdfast.errors import UsageError

TOOLSETS: Mapping[str, tuple[str, ...]] = {
    "search": (
        "search_code",
        "file_outline",
        "call_graph",
        "references",
        "explore",
        "locate",
        "manage_index",
        "list_codebases",
    ),
    "read": ("read", "readcache_refresh", "context", "recover"),
    "memory": (
        "memory_note",
        "memory_get",
        "memory_query",
        "memory_commit",
        "memory_history",
        "memory_branch",
    ),
}
"""The tools of each set, by name. `all` has every tool, also those in none of these sets."""

EVERYTHING = "all"
DEFAULT: tuple[str, ...] = ("search", "read", "memory")
SETTING = "HOLDFAST_MCP_TOOLS"

NEEDS_CONVERSATION = frozenset({"readcache_refresh", "readcache_status", "context", "recover"})
"""Tools that cannot work if the conversation of a call can never be known."""


def parse(text: str) -> tuple[str, ...]:
    """The toolsets that a setting names; raises `UsageError`."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    unknown = [name for name in names if name not in TOOLSETS and name != EVERYTHING]
    if unknown or not names:
        unknown_names = ", ".join(unknown) or "nothing"
        raise UsageError(
            f"a toolset is one of {', '.join(TOOLSETS)}, {EVERYTHING} (got {unknown_names})",
            "example: --tools search,read",
        )
    return names


def listed(tools: Iterable[str], setting: str, *, has_conversation: bool) -> list[str]:
    """The tools that are listed for a client, in order. An invalid setting lists all."""
    try:
        sets = parse(setting) if setting.strip() else DEFAULT
    except UsageError:
        sets = (EVERYTHING,)
    if EVERYTHING in sets:
        return list(tools)
    names = {tool for name in sets for tool in TOOLSETS[name]}
    if not has_conversation:
        names -= NEEDS_CONVERSATION
    return [tool for tool in tools if tool in names]
