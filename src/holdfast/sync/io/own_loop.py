"""An ASGI application that runs on its own event loop, in its own thread.

The sync server calls its store from its loop. A store on another machine may take seconds to
answer, or not answer at all until a deadline; the pages of the same web server do not wait for it.
All of the application runs in the one thread, so it needs no locks.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from holdfast.sync.io.websocket import Receive, Scope, Send

Result = TypeVar("Result")


class OwnLoop:
    """One thread that runs one event loop."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    async def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run it on that loop; other work of the calling loop continues meanwhile."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    async def serve(self, app: Any, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection there; its messages pass from loop to loop."""
        calling = asyncio.get_running_loop()

        def across(work: Coroutine[Any, Any, Result]) -> asyncio.Future[Result]:
            return asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, calling))

        async def receive_across() -> Any:
            return await across(_awaited(receive()))

        async def send_across(message: Any) -> None:
            await across(_awaited(send(message)))

        # Without the offer of its socket, which belongs to the calling loop.
        await self.run(app({**scope, "extensions": {}}, receive_across, send_across))

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _awaited(work: Any) -> Any:
    return await work
