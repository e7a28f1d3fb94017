"""All that `holdfast serve` serves, on a real port, in a thread of this process."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn

from holdfast.app import App
from holdfast.sync.io.endpoint import ServeOptions, SyncService
from holdfast.sync.io.handover import Handover
from holdfast.sync.io.websocket import OriginPolicy
from holdfast.web.compose import site

TOKEN = "the token of a test server"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


class _Server(uvicorn.Server):
    """Says when it listens."""

    def __init__(self, config: uvicorn.Config, listening: threading.Event) -> None:
        super().__init__(config)
        self._listening = listening

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        self._listening.set()


class LiveServer:
    """Starts on a free port, or on the one it had before."""

    def __init__(self, store: str, port: int = 0, handover: bool = True, **options: Any) -> None:
        listening = threading.Event()
        served = ServeOptions(store=store, **options)
        self.service = SyncService(served)
        whole = site(
            App(home=Path(store) / "home"),
            self.service,
            OriginPolicy(served.hosts, served.origins),
            token=TOKEN,
        )
        config = uvicorn.Config(
            whole,
            host="127.0.0.1",
            port=port,
            ws=Handover if handover else "websockets-sansio",
            ws_max_size=served.limits.frame_bytes_max,
            lifespan="on",
            log_level="error",
            timeout_graceful_shutdown=1,
        )
        self._server = _Server(config, listening)
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._server.serve()), daemon=True
        )
        self._thread.start()
        assert listening.wait(20), "the server did not start"

    @property
    def port(self) -> int:
        return int(self._server.servers[0].sockets[0].getsockname()[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(20)
        assert not self._thread.is_alive(), "the server did not stop"


@contextmanager
def serving(store: str, **options: Any) -> Iterator[LiveServer]:
    server = LiveServer(store, **options)
    try:
        yield server
    finally:
        server.stop()
