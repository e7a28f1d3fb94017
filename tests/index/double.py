"""A tiny extractor for tests: Python-like `def` and `class` lines, calls by name."""

import re

from holdfast.index.facts.model import (
    MODULE,
    Call,
    Chunk,
    FileFacts,
    Import,
    Span,
    Symbol,
    symbol_id,
)

_HEAD = re.compile(rb"^( *)(def|class) (\w+)", re.MULTILINE)
_CALL = re.compile(rb"(?<!def )(?<!class )\b(\w+)\(")
_IMPORT = re.compile(rb"^from (\w+) import (\w+)", re.MULTILINE)


def extract(path: str, source: bytes) -> FileFacts:
    if b"CRASH THE PARSER" in source:
        import os

        os._exit(9)
    symbols: list[Symbol] = []
    chunks: list[Chunk] = []
    heads = list(_HEAD.finditer(source))
    if not heads or heads[0].start() > 0:
        end = heads[0].start() if heads else len(source)
        if end:
            chunks.append(Chunk(MODULE, _span(source, 0, end)))
    for i, head in enumerate(heads):
        end = heads[i + 1].start() if i + 1 < len(heads) else len(source)
        name = head[3].decode()
        kind = "class" if head[2] == b"class" else "function"
        span = _span(source, head.start(), end)
        signature = source[head.start() :].split(b"\n", 1)[0].decode("utf-8", "replace")
        symbols.append(
            Symbol(symbol_id(path, name, kind, 0), name, name, kind, MODULE, 0, span, signature)  # type: ignore[arg-type]
        )
        chunks.append(Chunk(i, span))
    calls = []
    for found in _CALL.finditer(source):
        caller = max(
            (i for i, s in enumerate(symbols) if s.span.start <= found.start() < s.span.end),
            default=MODULE,
        )
        line = source.count(b"\n", 0, found.start()) + 1
        calls.append(Call(caller, found[1].decode(), "", "", line, found.start()))
    imports = [
        Import(found[1].decode(), found[2].decode(), found[2].decode(), 1)
        for found in _IMPORT.finditer(source)
    ]
    return FileFacts(
        path, "python", path.rsplit(".", 1)[0].replace("/", "."), source.count(b"\n") + 1,
        len(source), tuple(symbols), tuple(imports), tuple(calls), chunks=tuple(chunks),
    )  # fmt: skip


def _span(source: bytes, start: int, end: int) -> Span:
    first = source.count(b"\n", 0, start) + 1
    return Span(first, first + source[start:end].rstrip(b"\n").count(b"\n"), start, end)
