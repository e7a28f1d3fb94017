"""Runs commands in the background host for other processes.

A command runs the same code as in its own process, on the index that the host has in memory. It has
the same access: only processes of the same user reach the socket, and the host has that user's
rights.

To give the same answers as in its own process, a command in the host checks the tree again unless
the kernel reported no change since the last check, and does not rank by what git reported before it
began.
"""

from __future__ import annotations

import asyncio
import copy
import io
import json
import logging
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO, cast

from holdfast import __version__
from holdfast.app import App
from holdfast.cli.command_protocol import COMMAND_VERSION, HOSTED, SHOWN, WORKING_S
from holdfast.cli.console import CONSOLE, Console, NotHere, Routed
from holdfast.cli.main import dispatch
from holdfast.files.edited_files import EditedFiles
from holdfast.files.listed_trees import ListedTrees

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.files.listing import TreeListing
    from holdfast.files.policy import Policy
    from holdfast.index.code_index import CodeIndex
    from holdfast.mcp.host import Shared
    from holdfast.reading.session_log import SessionLog

THREADS_MAX = 8
LOCAL = {"local": True}

log = logging.getLogger("holdfast.cli")

Deliver = Callable[[str], None]


class _Output(io.StringIO):
    """The output of a command; a flush sends it, and returns when it has arrived."""

    def __init__(self, is_terminal: bool, encoding: str | None, deliver: Deliver) -> None:
        super().__init__()
        self._is_terminal, self._encoding, self._deliver = is_terminal, encoding, deliver

    @property
    def encoding(self) -> str | None:  # type: ignore[override]
        return self._encoding

    def isatty(self) -> bool:
        return self._is_terminal

    def flush(self) -> None:
        text = self.taken()
        if text:
            self._deliver(text)

    def taken(self) -> str:
        """The text that was not sent yet."""
        text = self.getvalue()
        self.seek(0)
        self.truncate()
        return text


class HostedApp(App):
    """The app of a command that runs in the host."""

    def __init__(self, shared: Shared, environment: Mapping[str, str], listed: ListedTrees) -> None:
        app = shared.app
        super().__init__(
            app.home,
            app.database_url,
            environment={**app.environment, **environment},
            clock=app.clock,
            new_id=app.new_id,
        )
        self._shared, self._listed_trees = shared, listed

    @contextmanager
    def borrow_index(self) -> Iterator[CodeIndex]:
        view = copy.copy(self._shared.index)
        view.reuses_recent = False
        view.edited = EditedFiles(start=lambda job: None)
        yield view

    def list_tree(self, root: Path, policy: Policy | None) -> TreeListing:
        return self._listed_trees.list(root, policy)

    def open_session(self, session: str, **options: Any) -> SessionLog:
        return super().open_session(session, **{"open_space": self._shared.keep_space, **options})


class CommandService:
    """Answers requests to run a command."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._threads = ThreadPoolExecutor(THREADS_MAX, "holdfast command")
        self._listed = ListedTrees(shared.app.clock.now_ns)
        sys.stdout = cast(TextIO, Routed("out", sys.stdout))
        sys.stderr = cast(TextIO, Routed("err", sys.stderr))

    async def serve(
        self, line: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Run one command for the process at the other end."""
        request = _request_of(line)
        if request is None:
            await _send(writer, LOCAL)
            return
        loop = asyncio.get_running_loop()

        async def deliver(text: str) -> None:
            await _send(writer, {"out": text})
            if await reader.readline() != SHOWN:
                raise BrokenPipeError

        def shown(text: str) -> None:
            asyncio.run_coroutine_threadsafe(deliver(text), loop).result()

        def progress(text: str) -> None:
            asyncio.run_coroutine_threadsafe(_send(writer, {"err": text}), loop).result()

        gone = threading.Event()
        work = loop.run_in_executor(self._threads, self._run, request, shown, progress, gone)
        while not work.done():
            await asyncio.wait({work}, timeout=WORKING_S)
            if reader.at_eof() or writer.is_closing():
                gone.set()  # the process has ended, by Ctrl-C for example
            elif not work.done():
                writer.write(b"\n")
        answer = work.result()
        if not gone.is_set():
            await _send(writer, answer)

    def _run(
        self,
        request: Mapping[str, Any],
        deliver: Deliver,
        progress: Deliver,
        gone: threading.Event,
    ) -> Mapping[str, Any]:
        if gone.is_set():
            return LOCAL  # its process ended while it waited for a thread
        out_terminal, err_terminal = request["terminal"]
        out = _Output(out_terminal, request["encoding"], deliver)
        err = _Output(err_terminal, request["encoding"], progress)
        noted, notes = self._shared.note_printed, self._shared.notes
        width = request["columns"]
        CONSOLE.set(Console(request["cwd"], out, err, width, gone.is_set, noted, notes))
        app = HostedApp(self._shared, request["environment"], self._listed)
        try:
            code = dispatch(list(request["argv"]), app.environment, app)
        except (SystemExit, NotHere):
            return LOCAL  # a parser message, or something that only that process can do
        except Exception:
            log.exception("a command failed in the host and runs in its own process")
            return LOCAL
        finally:
            CONSOLE.set(None)
        return {"out": out.taken(), "err": err.taken(), "code": code}

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._listed.close()


async def _send(writer: asyncio.StreamWriter, answer: Mapping[str, Any]) -> None:
    # ASCII with escapes, because file names may have bytes that are not UTF-8.
    writer.write(json.dumps(answer).encode() + b"\n")
    await writer.drain()


def _request_of(line: bytes) -> Mapping[str, Any] | None:
    """A request that this host can answer."""
    try:
        raw = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(raw, dict) or raw.get("v") != COMMAND_VERSION:
        return None
    argv, terminal, environment = raw.get("argv"), raw.get("terminal"), raw.get("environment")
    columns = raw.get("columns")
    if (
        raw.get("version") != __version__
        or not isinstance(argv, list)
        or not all(isinstance(word, str) for word in argv)
        or argv[:1] == []
        or argv[0] not in HOSTED
        or not isinstance(raw.get("cwd"), str)
        or not isinstance(terminal, list)
        or [type(one) for one in terminal] != [bool, bool]
        or not isinstance(environment, dict)
        or not (columns is None or isinstance(columns, int))
        or not isinstance(raw.get("encoding"), str)
    ):
        return None
    return raw
