"""Starts the dashboard on its first visit: a server without visitors does no work for it.

It starts when a page is opened, when a question is asked, or when any client opens the live space;
nothing is imported, opened or watched before.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from holdfast import live
from holdfast.app import App

if TYPE_CHECKING:
    from holdfast.dashboard.pages import Question
    from holdfast.dashboard.service import DashboardService

LOOK_EVERY_S = 0.5


def live_space_of(app: App, store: str) -> str:
    """The space that contains this home's live documents."""
    shared = store if store.startswith(("postgresql://", "postgres://")) else None
    namespace = app.environment.get("HOLDFAST_INDEX_NAMESPACE") or socket.gethostname()
    return live.space_of(app.home, shared, namespace)


class Sleeper:
    """Starts the service once, when it is first needed, and stops it with the server."""

    def __init__(self, make: Callable[[], DashboardService], is_wanted: Callable[[], bool]) -> None:
        """`is_wanted`: whether a client watches the live space; called in the server's loop."""
        self._make, self._is_wanted = make, is_wanted
        self._lock = threading.Lock()
        self._service: DashboardService | None = None
        self._over = False

    @property
    def awake(self) -> bool:
        return self._service is not None

    def wake(self) -> DashboardService:
        """The service, running. May be called from any thread."""
        with self._lock:
            if self._service is None:
                assert not self._over, "the server is stopping"
                self._service = self._make()
                self._service.start()
            return self._service

    def questions(self) -> Mapping[str, Question]:
        return self.wake().questions()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """A context for the lifetime of the server."""
        watching = asyncio.get_running_loop().create_task(self._watch())
        try:
            yield
        finally:
            watching.cancel()
            await asyncio.to_thread(self._end)

    async def _watch(self) -> None:
        while not self.awake:
            await asyncio.sleep(LOOK_EVERY_S)
            if self._is_wanted():
                await asyncio.to_thread(self.wake)

    def _end(self) -> None:
        with self._lock:
            self._over = True
            if self._service is not None:
                self._service.stop()
