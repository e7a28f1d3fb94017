"""A user's own sessions, found where their agents keep them, and what they saved."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from holdfast.file_focus import Outliner
from holdfast.home import Home
from holdfast.reading.history import opencode
from holdfast.reading.history.readers import contexts_at
from holdfast.reading.history.steps import Context
from holdfast.reading.hosts.detect import sidecar_path
from holdfast.reading.hosts.sidecar import ShortRecord, Sidecar
from holdfast.replay.find import AgentSession
from holdfast.replay.report import SavingsAnswer, agents_of

LIMIT = 40
"""How many sessions are replayed, the newest first."""


def own_savings(
    files: Sequence[AgentSession],
    home: Home,
    outline: Outliner,
    *,
    since: str | None = None,
    since_s: float = 0.0,
    limit: int = LIMIT,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> SavingsAnswer:
    """What these sessions read and saved. Files that cannot be read are listed in the answer."""
    unreadable: list[str] = []
    records: dict[str, Mapping[str, ShortRecord]] = {}
    newest = files[:limit]

    def contexts() -> Iterator[Context]:
        for done, file in enumerate(newest):
            progress(done, len(newest))
            try:
                for context in _contexts(file, since_s):
                    records[context.name] = _records(home, file, context)
                    yield context
            except (OSError, sqlite3.Error) as error:
                unreadable.append(f"{file.path}: {error}")

    agents = agents_of(contexts(), lambda context: records.get(context.name, {}), outline)
    return SavingsAnswer(
        since=since,
        sessions=len(newest),
        unreadable=tuple(unreadable),
        left_out=len(files) - len(newest),
        agents=agents,
    )


def _contexts(file: AgentSession, since_s: float) -> Iterator[Context]:
    if file.agent == opencode.AGENT:
        yield from opencode.sessions(file.path, round(since_s * 1000))
    else:
        yield from contexts_at(file.path)


def _records(home: Home, file: AgentSession, context: Context) -> Mapping[str, ShortRecord]:
    """Our records of the short answers in a conversation; empty when there are none."""
    path = Path(context.name) if file.agent == opencode.AGENT else file.path
    sidecar = Sidecar(sidecar_path(home, file.agent, str(path)))
    with suppress(OSError):
        sidecar.catch_up()
    return sidecar.short
