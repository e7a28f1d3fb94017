"""read_file: a file's text, and on request its outline, subject to the state of its root.

Plain text needs no completion proof; an outline does.
"""

from __future__ import annotations

import os
from typing import Literal

from msgspec.structs import replace

from holdfast.errors import UsageError
from holdfast.files.paths import canonical_root
from holdfast.files.regular import FILE_BYTES_MAX, read_regular
from holdfast.index.answers import Call, Hints, OutlineAnswer, ReadAnswer, manage_call
from holdfast.index.code_index import CodeIndex
from holdfast.index.generations.gate import Building, effective_record
from holdfast.index.generations.record import Indexing
from holdfast.index.tools.outline import file_outline
from holdfast.index.tools.refusals import indexing_message, indexing_progress

LINES_MAX = 1000


def read_file(
    index: CodeIndex,
    path: str,
    *,
    start_line: int | None = None,
    end_line: int | None = None,
    mode: Literal["plain", "annotated"] = "plain",
    symbol_id: str | None = None,
    symbol_label: str | None = None,
) -> ReadAnswer:
    """Read lines of a file, or of one of its symbols."""
    folder, name = os.path.split(os.path.abspath(path))
    file = os.path.join(canonical_root(folder), name)
    answer = ReadAnswer(status="ok", path=file, mode=mode)
    record = effective_record(file, index.registry.records().values())
    if record is not None and isinstance(record.state, Indexing):
        building = index.with_details(Building(record, record.state))
        assert isinstance(building, Building)
        return replace(
            answer,
            status="not_ready",
            reason="indexing",
            codebase_root=record.root,
            message=indexing_message(building, "read the file again"),
            hints=Hints(status=manage_call("status", record.root)),
            indexing=indexing_progress(building),
        )
    if symbol_id is not None or symbol_label is not None:
        if record is None:
            return replace(
                answer,
                status="requires_reindex",
                reason="requires_reindex",
                is_error=True,
                message=f"no tracked root contains '{file}'; its symbols are not known",
                hints=Hints(
                    next_steps=(manage_call("create", folder), Call("read", {"path": file}))
                ),
            )
        outline = file_outline(
            index,
            record.root,
            file,
            resolve_mode="exact",
            symbol_id=symbol_id,
            symbol_label=symbol_label,
        )
        if outline.status != "ok" or outline.outline is None:
            return _not_opened(answer, outline)
        span = outline.outline.symbols[0].span
        start_line, end_line = span.start_line, span.end_line
    answer = replace(answer, content=_lines(file, start_line, end_line))
    if mode == "plain":
        return answer
    if record is None:
        hints = Hints(create=manage_call("create", folder))
        return replace(answer, outline_status="not_indexed", outline=None, hints=hints)
    outline = file_outline(index, record.root, file, start_line=start_line, end_line=end_line)
    return replace(
        answer,
        outline_status=outline.status,
        outline=outline.outline,
        has_more=outline.has_more,
        hints=outline.hints,
    )


def _not_opened(answer: ReadAnswer, outline: OutlineAnswer) -> ReadAnswer:
    refused = replace(
        answer,
        status=outline.status,
        is_error=True,
        reason=outline.reason,
        message=outline.message,
        hints=outline.hints,
    )
    return replace(refused, outline=outline.outline) if outline.status == "ambiguous" else refused


def _lines(file: str, start_line: int | None, end_line: int | None) -> str:
    try:
        data = read_regular(file, FILE_BYTES_MAX + 1, follow_links=True)
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
    if data is None:
        raise UsageError(f"cannot read {file}: it is not a regular file")
    if len(data) > FILE_BYTES_MAX:
        raise UsageError(
            f"cannot read {file}: it is larger than {FILE_BYTES_MAX >> 20} MiB",
            "use a tool that reads a part of it, such as head or sed",
        )
    text = data.decode("utf-8", "replace")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    first = max(1, start_line or 1)
    last = min(len(lines), end_line or len(lines))
    shown = lines[first - 1 : min(last, first - 1 + LINES_MAX)]
    content = "\n".join(shown)
    if first - 1 + len(shown) < last:
        content += (
            f"\n[lines {first}-{first - 1 + len(shown)} of {len(lines)}; "
            f"continue: read(path={file!r}, offset={first + len(shown)})]"
        )
    return content
