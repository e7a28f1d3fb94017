"""The questions of the dashboard, each answered by the same verb as a command.

They cover only tracked trees, existing spaces and files that a session has read: the page cannot be
used to read the rest of the disk.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from holdfast.app import App
from holdfast.dashboard.answers import HealthAnswer, HealthFinding
from holdfast.dashboard.code_questions import CodeQuestions
from holdfast.dashboard.memory_questions import MemoryQuestions
from holdfast.dashboard.parameters import Members
from holdfast.dashboard.session_questions import SessionQuestions
from holdfast.errors import UsageError
from holdfast.index.code_index import CodeIndex
from holdfast.observed.sessions import SessionObserver

if TYPE_CHECKING:
    from holdfast.dashboard.pages import Question
    from holdfast.reading.reader import Reader
    from holdfast.replay.report import SavingsAnswer
    from holdfast.store.store import Store

DAYS_MAX = 3_650


class Questions:
    """Everything the page can ask; each method takes the parameters of a request."""

    def __init__(
        self,
        app: App,
        index: CodeIndex,
        reader: Reader,
        sessions: SessionObserver,
        space: Callable[[str], Store],
    ) -> None:
        """`space` opens an existing space, or raises."""
        self._app = app
        self._sessions = SessionQuestions(reader, sessions)
        self._code = CodeQuestions(app, index, self._sessions)
        self._memory = MemoryQuestions(app, index, space)

    def table(self) -> dict[str, Question]:
        """Path below /api/ -> the method that answers it."""
        code, sessions, memory = self._code, self._sessions, self._memory
        return {
            "search": code.search,
            "outline": code.outline,
            "calls": code.calls,
            "references": code.references,
            "file": code.file,
            "codebase": code.codebase,
            "names": code.names,
            "locate": code.locate,
            "clones": code.clones,
            "session": sessions.session,
            "context": sessions.context,
            "context/lines": sessions.context_lines,
            "memory/documents": memory.documents,
            "memory/log": memory.log,
            "memory/drift": memory.drift,
            "doctor": self.doctor,
            "savings": self.savings,
            "sync": code.sync,
            "memory/note": memory.note,
        }

    def savings(self, params: Members) -> SavingsAnswer:
        """What the user's own sessions of the last days read, saved and could have saved."""
        try:
            days = float(params.get("days", "14"))
        except ValueError:
            days = 0.0
        if not 0 < days <= DAYS_MAX:
            raise UsageError(f"days must be a number above 0 (got {params.get('days')})")
        return self._app.own_savings(days * 86_400)

    def doctor(self, params: Members) -> HealthAnswer:
        """Every check of the doctor, with a fix for each problem."""
        from holdfast.agents.doctor import examine
        from holdfast.agents.target import target_of

        findings = tuple(
            HealthFinding(one.about, one.state, one.message, one.fix or None)
            for one in examine(self._app, target_of(self._app))
        )
        wrong = any(one.state == "wrong" for one in findings)
        return HealthAnswer("wrong" if wrong else "ok", findings)
