"""read_file: a file's text, with its outline when asked, under the state of its root.

This is what the index has to say about a read. Plain text needs no proof; an outline does.
"""

from __future__ import annotations

import os
from typing import Literal, NotRequired, TypedDict

from holdfast.errors import UsageError
from holdfast.files.paths import canonical_root
from holdfast.index.code_index import CodeIndex
from holdfast.index.generations.gate import Building, effective_record
from holdfast.index.generations.record import Indexing
from holdfast.index.tools import answers
from holdfast.index.tools.answers import Wire, hints, manage_call
from holdfast.index.tools.outline import OutlineAnswer, file_outline

LINES_MAX = 1000


class ReadAnswer(TypedDict):
    """The envelope of read_file. `isError` marks an answer without the text that was asked for."""

    status: str
    reason: NotRequired[str]
    path: str
    mode: str
    codebaseRoot: NotRequired[str]
    content: NotRequired[str]
    outlineStatus: NotRequired[str]
    outline: NotRequired[Wire | None]
    hasMore: NotRequired[bool]
    message: NotRequired[str]
    hints: NotRequired[Wire]
    indexing: NotRequired[Wire]
    isError: NotRequired[bool]


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
    answer: ReadAnswer = {"status": "ok", "path": file, "mode": mode}
    record = effective_record(file, index.registry.records().values())
    if record is not None and isinstance(record.state, Indexing):
        building = index.with_abandoned_check(Building(record, record.state))
        assert isinstance(building, Building)
        answer["status"], answer["reason"] = "not_ready", "indexing"
        answer["codebaseRoot"] = record.root
        answer["message"] = answers.indexing_message(building, "read the file again")
        answer["hints"] = hints(status=manage_call("status", record.root))
        answer["indexing"] = answers.indexing_facts(building)
        return answer
    if symbol_id is not None or symbol_label is not None:
        if record is None:
            answer["status"] = answer["reason"] = "requires_reindex"
            answer["isError"] = True
            answer["message"] = f"no tracked root contains '{file}'; its symbols are not known"
            answer["hints"] = hints(
                nextSteps=[manage_call("create", folder), {"tool": "read", "args": {"path": file}}]
            )
            return answer
        found = file_outline(
            index,
            record.root,
            file,
            resolve_mode="exact",
            symbol_id=symbol_id,
            symbol_label=symbol_label,
        )
        if found["status"] != "ok" or found["outline"] is None:
            return _not_opened(answer, found)
        start_line, end_line = _span(found["outline"])
    answer["content"] = _lines(file, start_line, end_line)
    if mode == "annotated":
        if record is None:
            answer["outlineStatus"], answer["outline"] = "not_indexed", None
            answer["hints"] = hints(create=manage_call("create", folder))
        else:
            _annotate(
                answer,
                file_outline(index, record.root, file, start_line=start_line, end_line=end_line),
            )
    return answer


def _annotate(answer: ReadAnswer, found: OutlineAnswer) -> None:
    answer["outlineStatus"] = found["status"]
    answer["outline"] = found["outline"]
    answer["hasMore"] = found["hasMore"]
    if "hints" in found:
        answer["hints"] = found["hints"]


def _not_opened(answer: ReadAnswer, found: OutlineAnswer) -> ReadAnswer:
    answer["status"] = found["status"]
    answer["isError"] = True
    if "reason" in found:
        answer["reason"] = found["reason"]
    if "message" in found:
        answer["message"] = found["message"]
    if "hints" in found:
        answer["hints"] = found["hints"]
    if found["status"] == "ambiguous":
        answer["outline"] = found["outline"]
    return answer


def _span(outline: Wire) -> tuple[int, int]:
    symbols = outline["symbols"]
    assert isinstance(symbols, list)
    span = symbols[0]["span"]
    return int(span["startLine"]), int(span["endLine"])


def _lines(file: str, start_line: int | None, end_line: int | None) -> str:
    try:
        with open(file, encoding="utf-8", errors="replace") as text:
            lines = text.read().split("\n")
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
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
