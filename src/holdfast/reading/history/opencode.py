"""OpenCode's database as steps: sessions, their messages and parts. It is never written.

Opened read-only, in one transaction, so that the answer does not mix in concurrent writes. The
database keeps the outputs of tools that were pruned; the model no longer sees them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from holdfast.reading.history.steps import (
    Blanked,
    Called,
    Compacted,
    Context,
    Returned,
    Said,
    mapping_or_empty,
)

AGENT = "opencode"
BUSY_S = 2.0


def sessions(path: str | Path, since_ms: int = 0, *, newest: bool = False) -> Iterator[Context]:
    """The conversations in a database that changed since `since_ms`, the oldest first.

    With `newest` only the one that changed last.

    Raises sqlite3.Error for a file that is not such a database.
    """
    database = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=BUSY_S)
    try:
        database.execute("PRAGMA query_only = 1")
        database.execute("BEGIN")
        rows = database.execute(
            "SELECT id, parent_id, directory FROM session WHERE time_updated >= ? "
            "ORDER BY time_created, id",
            (since_ms,),
        ).fetchall()
        if newest:
            rows = database.execute(
                "SELECT id, parent_id, directory FROM session ORDER BY time_updated DESC LIMIT 1"
            ).fetchall()
        for session, parent, directory in rows:
            context = Context(str(session), AGENT, parent is not None, str(directory or ""))
            for role, data in _parts(database, session):
                _part(context, role, data)
            yield context
    finally:
        database.close()


def _parts(database: sqlite3.Connection, session: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    rows = database.execute(
        "SELECT m.data, p.data FROM part p JOIN message m ON m.id = p.message_id "
        "WHERE p.session_id = ? ORDER BY m.time_created, m.id, p.id",
        (session,),
    )
    for message, part in rows:
        about, data = _object(message), _object(part)
        yield str(about.get("role")), data


def _object(text: object) -> Mapping[str, Any]:
    try:
        value = json.loads(text) if isinstance(text, str | bytes) else None
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, Mapping) else {}


def _part(context: Context, role: str, part: Mapping[str, Any]) -> None:
    match part.get("type"):
        case "text" if isinstance(part.get("text"), str) and not part.get("synthetic"):
            context.steps.append(Said("user" if role == "user" else "assistant", part["text"]))
        case "compaction":
            context.steps.append(Compacted())
        case "tool" if isinstance(part.get("state"), Mapping):
            _tool(context, part, part["state"])
        case _:
            pass


def _tool(context: Context, part: Mapping[str, Any], state: Mapping[str, Any]) -> None:
    call, tool = str(part.get("callID")), str(part.get("tool"))
    arguments = mapping_or_empty(state.get("input"))
    context.steps.append(Called(call, tool, arguments))
    failed = state.get("status") == "error"
    text = state.get("error" if failed else "output")
    if isinstance(text, str):
        context.steps.append(Returned(call, tool, arguments, text, None, failed, context.cwd))
        time = state.get("time")
        if isinstance(time, Mapping) and time.get("compacted") is not None:
            context.steps.append(Blanked((call,)))
