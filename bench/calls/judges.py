"""The judges: for every call of a file, the definitions that a type checker gives for it."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlparse

HERE = Path(__file__).parent


class Place(NamedTuple):
    """Where a judge found a definition; `path` is absolute or has `..` if outside the package."""

    path: str
    line: int
    kind: str
    """"class", "function" or "other"."""


class Judged(NamedTuple):
    """One call of a file: where it starts, the name that is called, and what that is."""

    path: str
    start: int
    name: str
    places: tuple[Place, ...]


# TypeScript and JavaScript


def compiler(typescript: Path, folder: Path, files: list[str]) -> Iterator[Judged]:
    """What the TypeScript compiler says."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as listed:
        json.dump(files, listed)
        listed.flush()
        command = ["node", "--max-old-space-size=6000", str(HERE / "typescript_judge.cjs")]
        run = subprocess.run(
            [*command, str(typescript), str(folder.resolve()), listed.name],
            capture_output=True,
            text=True,
            check=True,
            timeout=1_800,
        )
    for line in run.stdout.splitlines():
        answer = json.loads(line)
        for start, name, places in answer["calls"]:
            yield Judged(answer["path"], start, name, tuple(Place(*place) for place in places))


# Python


@dataclass
class LanguageServer:
    """A language server on standard input and output, asked many things at a time."""

    process: subprocess.Popen[bytes]
    number: int = 0

    def send(self, method: str, params: object, *, answer: bool = True) -> int:
        message: dict[str, object] = {"jsonrpc": "2.0", "method": method, "params": params}
        if answer:
            self.number += 1
            message["id"] = self.number
        self._write(message)
        return self.number

    def _write(self, message: dict[str, object]) -> None:
        data = json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.process.stdin.flush()

    def answers(self, wanted: set[int]) -> dict[int, Any]:
        """The answers to these requests; requests of the server are declined."""
        found: dict[int, Any] = {}
        while len(found) < len(wanted):
            message = self._read()
            if "method" in message and "id" in message:
                items = message.get("params", {}).get("items", [])
                result = [None] * len(items) if "configuration" in message["method"] else None
                self._write({"jsonrpc": "2.0", "id": message["id"], "result": result})
            elif message.get("id") in wanted:
                found[message["id"]] = message.get("result")
        return found

    def _read(self) -> dict[str, Any]:
        stream = self.process.stdout
        assert stream is not None
        size = 0
        while (line := stream.readline().strip()) or not size:
            if line.lower().startswith(b"content-length:"):
                size = int(line.split(b":")[1])
            elif not line and not size:
                raise EOFError("the language server ended")
        answer: dict[str, Any] = json.loads(stream.read(size))
        return answer


def language_server(basedpyright: Path, folder: Path, files: list[str]) -> Iterator[Judged]:
    """What basedpyright says."""
    root, basedpyright = folder.resolve(), basedpyright.resolve()
    process = subprocess.Popen(
        [sys.executable, str(basedpyright / "bin" / "basedpyright-langserver"), "--stdio"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=root,
        env={"PYTHONPATH": str(basedpyright), "PATH": "/usr/bin:/bin", "HOME": str(root)},
    )
    server = LanguageServer(process)
    try:
        first = server.send(
            "initialize",
            {
                "processId": None,
                "rootUri": root.as_uri(),
                "capabilities": {},
                "workspaceFolders": [{"uri": root.as_uri(), "name": "judged"}],
                "initializationOptions": {"diagnosticMode": "openFilesOnly"},
            },
        )
        server.answers({first})
        server.send("initialized", {}, answer=False)
        for path in files:
            yield from _file(server, root, path)
    finally:
        process.kill()
        process.wait()


def _file(server: LanguageServer, root: Path, path: str) -> Iterator[Judged]:
    text = (root / path).read_bytes().decode("utf-8", "replace")
    sites = list(python_sites(text))
    uri = root.as_uri() + "/" + quote(path)
    document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
    server.send("textDocument/didOpen", {"textDocument": document}, answer=False)
    for batch in (sites[n : n + 50] for n in range(0, len(sites), 50)):
        asked = {
            server.send(
                "textDocument/definition",
                {"textDocument": {"uri": uri}, "position": {"line": line, "character": column}},
            ): (start, name)
            for start, name, line, column in batch
        }
        for number, result in sorted(server.answers(set(asked)).items()):
            start, name = asked[number]
            yield Judged(path, start, name, tuple(_places(root, result)))
    server.send("textDocument/didClose", {"textDocument": {"uri": uri}}, answer=False)


def _places(root: Path, result: Any) -> Iterator[Place]:
    for found in result or ():
        file = Path(unquote(urlparse(found["uri"]).path))
        line, column = found["range"]["start"]["line"], found["range"]["start"]["character"]
        inside = file.is_relative_to(root)
        name = file.relative_to(root).as_posix() if inside else str(file)
        lines = _lines(file) if inside else []
        before = lines[line][:column].strip() if line < len(lines) else ""
        kind = {"class": "class", "def": "function", "async def": "function"}.get(before, "other")
        yield Place(name, line + 1, kind)


def plausible(folder: Path, judged: Judged) -> Judged:
    """Without places that do not have the name.

    The language server answers for the call around a name that it does not know.
    """
    if not judged.path.endswith(".py"):
        return judged
    kept = []
    for place in judged.places:
        lines = _lines(folder / place.path)
        text = lines[place.line - 1] if place.line <= len(lines) else ""
        if judged.name in text or any(f"def {name}(" in text for name in _MAKERS):
            kept.append(place)
    return judged._replace(places=tuple(kept))


_MAKERS = ("__init__", "__new__", "__call__")
_TEXTS: dict[Path, list[str]] = {}


def _lines(file: Path) -> list[str]:
    if file not in _TEXTS:
        _TEXTS[file] = file.read_bytes().decode("utf-8", "replace").split("\n")
    return _TEXTS[file]


def python_sites(text: str) -> Iterator[tuple[int, str, int, int]]:
    """Every call by a name: its first byte, the name, and where the name is, as editors count."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    lines = [line.encode() for line in text.split("\n")]
    begins = [0]
    for line in lines:
        begins.append(begins[-1] + len(line) + 1)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        callee = node.func
        if isinstance(callee, ast.Attribute):
            name = callee.attr
        elif isinstance(callee, ast.Name):
            name = callee.id
        else:
            continue
        row, end = (callee.end_lineno or 1) - 1, callee.end_col_offset or 0
        before = lines[row][: end - len(name.encode())].decode()
        column = len(before.encode("utf-16-le")) // 2
        yield begins[node.lineno - 1] + node.col_offset, name, row, column
