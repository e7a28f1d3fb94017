"""Ctrl-C on a command ends the work that the host does for it."""

import asyncio
import json
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from holdfast import __version__
from holdfast.app import App
from holdfast.cli import command_protocol, hosting
from holdfast.cli.output import steps_on_terminal

LONG_S = 60.0


class LongCommand:
    """A command that reports progress for ever, and what ended it."""

    def __init__(self) -> None:
        self.began, self.ended = threading.Event(), threading.Event()
        self.why: BaseException | None = None

    def __call__(self, argv: list[str], environment: Mapping[str, str], app: App) -> int:
        progress = steps_on_terminal()
        self.began.set()
        try:
            for done in range(1_000_000):
                progress("working", done, 1_000_000)
                self.ended.wait(0.001)
        except KeyboardInterrupt as error:
            self.why = error
        finally:
            self.ended.set()
        return 130


def request() -> bytes:
    wanted = {
        "holdfast": "cli", "v": command_protocol.COMMAND_VERSION, "version": __version__,
        "argv": ["clones"], "cwd": "/", "environment": {}, "terminal": [False, False],
        "columns": None, "encoding": "utf-8",
    }  # fmt: skip
    return json.dumps(wanted).encode() + b"\n"


@pytest.mark.shows("CLI-HOST-INTERRUPT")
def test_the_work_ends_when_the_process_of_the_command_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It went on to the end, with a core of its own for each impatient person."""
    command = LongCommand()
    monkeypatch.setattr(hosting, "dispatch", command)
    monkeypatch.setattr(hosting, "WORKING_S", 0.01)
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    monkeypatch.setattr(sys, "stderr", sys.stderr)
    shared = SimpleNamespace(
        app=App(tmp_path / "home"), note_printed=lambda text, lines: None, notes=lambda space: None
    )
    service = hosting.CommandService(cast(Any, shared))

    async def story() -> None:
        served = asyncio.Event()

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await service.serve(await reader.readline(), reader, writer)
            writer.close()
            served.set()

        place = str(tmp_path / "s")
        async with await asyncio.start_unix_server(answer, place):
            _, peer = await asyncio.open_unix_connection(place)
            peer.write(request())
            await peer.drain()
            assert await asyncio.to_thread(command.began.wait, LONG_S)
            assert not command.ended.is_set()
            peer.close()
            assert await asyncio.to_thread(command.ended.wait, LONG_S)
            await asyncio.wait_for(served.wait(), LONG_S)

    try:
        asyncio.run(story())
    finally:
        command.ended.set()
        service.close()
    assert isinstance(command.why, KeyboardInterrupt)
