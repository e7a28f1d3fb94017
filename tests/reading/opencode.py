"""A conversation of OpenCode, which shows a plugin every request before it is sent.

There is no log. The request has all results that were not pruned or compacted; a short answer whose
text is no longer there gets it back. The twin is the request after that.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from holdfast.agents.opencode import hook
from holdfast.mcp.request_log import RequestLog
from holdfast.mcp.requests import outcome_of
from holdfast.reading.hosts.sidecar import Sidecar
from holdfast.reading.session_log import SessionLog
from holdfast.replay.texts import Change
from holdfast.replay.writers import Echo, Read, Writer, path_of
from tests.reading.requests import Session
from tests.reading.told import Message, Untrue


class OpenCodeWriter(Writer):
    """The results of a conversation, as its requests show them."""

    def begin(self) -> None:
        self.uses: list[dict[str, Any]] = []
        self._calls: dict[str, tuple[str, dict[str, Any]]] = {}

    def say(self, role: str, size: int, at: float) -> None: ...

    def call(self, tool: str, given: dict[str, Any], at: float) -> str:
        call = self.next_id("c")
        names = {"file_path": "filePath"}
        arguments = {names.get(name, name): value for name, value in given.items()}
        self._calls[call] = (tool.lower(), arguments)
        return call

    def done(self, call: str, output: str) -> None:
        tool, given = self._calls.pop(call)
        use = {"id": call, "tool": tool, "status": "completed", "input": given, "output": output}
        self.uses.append(use)

    def read_result(self, call: str, given: Read, text: str | None, at: float) -> None:
        rows = "\n".join(f"{n}: {row}" for n, row in enumerate(given.rows, given.first))
        last = given.first + len(given.rows) - 1
        end = f"End of file - total {given.total} lines"
        more = f"Showing lines {given.first}-{last} of {given.total}. Use offset={last + 1}."
        tail = f"({end if last == given.total else more})\n</content>"
        head = f"<path>{path_of(given.file)}</path>\n<type>file</type>\n<content>\n"
        self.done(call, f"{head}{rows}\n\n{tail}" if text is None else text)

    def shell_result(self, call: str, output: str, text: str | None, at: float) -> None:
        self.done(call, output if text is None else text)

    def edited(
        self, file: int, before: list[str], hunks: list[Change], echo: Echo, at: float
    ) -> None:
        for one in hunks:
            texts = {"oldString": "\n".join(one.old), "newString": "\n".join(one.new)}
            call = self.call("edit", {"filePath": path_of(file), **texts}, at)
            self.done(call, "Edit applied successfully.")

    def wrote(self, file: int, rows: list[str], at: float) -> None:
        content = "\n".join(rows) + "\n"
        call = self.call("write", {"filePath": path_of(file), "content": content}, at)
        self.done(call, "Wrote file successfully.")


class OpenCodeSession(Session):
    """A random conversation; each result of it with the messages that it is for the twin."""

    writer: OpenCodeWriter
    log: RequestLog

    def _opened(self, folder: Path) -> tuple[Writer, SessionLog]:
        self.results: list[tuple[dict[str, Any], list[Message]]] = []
        self.was: dict[str, tuple[int, int, list[str]]] = {}
        """What each call printed, before it was answered in short."""
        self.restored = 0
        return OpenCodeWriter(folder), RequestLog("s", Sidecar(folder / "sidecar.jsonl"))

    def step(self) -> None:
        self._send()
        messages = len(self.request)
        super().step()
        new, self.writer.uses = self.writer.uses, []
        if new:
            self.results += [(use, []) for use in new[:-1]]
            self.results.append((new[-1], self.request[messages:]))

    def _send(self) -> None:
        """The request as the model is sent it, after the plugin's answer."""
        uses = [use for use, _ in self.results]
        payload = {"event": "request", "session": "s", "cwd": "/w", "uses": uses}
        event = hook.event_of(payload)
        assert event is not None
        self.log.show(event.uses, "/w", self.objects.load)
        put = hook.reply_to(event, outcome_of(event, self.log)).get("uses", {})
        self.request = [
            message
            for use, messages in self.results
            for message in (self._restored(use, put) if use["id"] in put else messages)
        ]

    def _restored(self, use: dict[str, Any], put: dict[str, Any]) -> list[Message]:
        self.restored += 1
        head, *rows = put[use["id"]]["output"].split("\n")
        file, first, printed = self.was[use["id"]]
        which = r"lines \d+-\d+|all \d+ lines"
        found = re.fullmatch(rf"\[holdfast: ({which}) of (\S+) as they were then\]", head)
        numbered = [f"{number}: {row}" for number, row in enumerate(printed, first)]
        if found is None or found[2] != path_of(file) or rows != numbered:
            raise Untrue(f"not what was there then: {head!r}")
        whole = found[1].startswith("all ")
        return [Message(file, "shown", first, tuple(printed), whole, call=use["id"])]

    def _answered(self, file: int, first: int, rows: list[str], call: str, found: Any) -> None:
        self.was[call] = (file, first, rows)
        super()._answered(file, first, rows, call, found)

    def do_search(self) -> None: ...

    def do_ours(self) -> None: ...

    def do_rest(self) -> None: ...

    def do_compact(self) -> None:
        """The latest results are kept as they are, whatever they refer to."""
        kept = self.rng.randrange(4)
        self.results = self.results[len(self.results) - kept :] if kept else []

    def do_blank(self) -> None:
        """The oldest outputs are pruned."""
        for at in range(self.rng.randrange(len(self.results) + 1)):
            self.results[at] = ({**self.results[at][0], "compacted": True}, [])

    def do_move(self) -> None:
        del self.results[self.rng.randrange(len(self.results) + 1) :]
