"""Outputs of commands that an agent cut, in its log and as its model is sent them."""

from __future__ import annotations

import random
from collections.abc import Sequence

from holdfast.replay.writers import ClaudeWriter, CodexWriter, PiWriter, Writer, path_of
from tests.reading import codex_output

Part = tuple[int, Sequence[str]]
"""How many rows of the output come before these, and the rows that the model sees."""


def shell_result(
    writer: Writer, call: str, rows: list[str], at: float, rng: random.Random
) -> list[Part]:
    """Write the result of a command that printed these rows; returns what is left of them."""
    if isinstance(writer, CodexWriter):
        return _codex(writer, call, "\n".join(rows) + "\n", at, rng)
    count = rng.randint(1, len(rows))
    if isinstance(writer, PiWriter):
        tail, total = rows[len(rows) - count :], len(rows)
        notice = f"[Showing lines {total - count + 1}-{total} of {total}. Full output: /tmp/x]"
        writer.result(call, "bash", "\n".join((*tail, "", notice)))
        return [(total - count, tail)]
    if not isinstance(writer, ClaudeWriter):
        tail = rows[len(rows) - count :]
        writer.shell_result(call, "\n".join(("...output truncated...", "", *tail)), None, at)
        return [(len(rows) - count, tail)]
    shown = "\n".join(rows[:count])
    text = f"<persisted-output>\nOutput too large.\n\nPreview (first 2KB):\n{shown}\n..."
    structured = {"stdout": shown, "stderr": "", "interrupted": False, "isImage": False}
    writer.result(call, text, {**structured, "persistedOutputPath": "/tmp/x"}, at)
    return [(0, rows[:count])]


def read_result(
    writer: ClaudeWriter,
    call: str,
    file: int,
    first: int,
    rows: list[str],
    at: float,
    rng: random.Random,
) -> list[str]:
    """Write the result of a native read of which the model sees only the first rows."""
    shown = rows[: rng.randint(1, len(rows))]
    text = "\n".join(f"{number:>6}\u2192{row}" for number, row in enumerate(shown, first))
    content = {
        "filePath": path_of(file),
        "content": "\n".join((*rows, "and more")),
        "numLines": len(rows) + 1,
        "startLine": first,
        "totalLines": first + len(rows),
    }
    text += "\n\n... [output truncated]"
    writer.result(call, text, {"type": "text", "file": content}, at)
    return shown


def _codex(
    writer: CodexWriter, call: str, output: str, at: float, rng: random.Random
) -> list[Part]:
    room, unit = rng.choice([80, 200, 400, 800]), rng.choice(["tokens", "chars"])
    shown = codex_output.cut(output, room, unit)
    writer.item(at, type="function_call_output", call_id=call, output=shown)
    if len(output) <= room:
        return [(0, output.split("\n")[:-1])]
    head, tail = output[: room // 2], output[len(output) - room // 2 :]
    # The row at the end of each part may be complete, but nothing shows that.
    first, last = head.split("\n")[:-1], tail.split("\n")[1:-1]
    return [(0, first), (output.count("\n") - len(last), last)]
