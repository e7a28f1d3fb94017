"""Texts of files that Claude Code adds to a conversation itself, in its transcript."""

from __future__ import annotations

import random

from holdfast.replay.writers import ClaudeWriter, path_of

Part = tuple[int, list[str]]
"""The first number and the rows that the model is shown."""


def attached(
    writer: ClaudeWriter, file: int, rows: list[str], at: float, rng: random.Random
) -> tuple[list[Part], bool]:
    """Attach a file, or some of its lines; returns what is shown, and whether that is all of it."""
    path = path_of(file)
    if rng.random() < 0.4:
        content = {
            "filePath": path,
            "content": "\n".join((*rows, "")),
            "numLines": len(rows) + 1,
            "startLine": 1,
            "totalLines": len(rows) + 1,
        }
        text = {"type": "text", "file": content}
        writer.line(
            "attachment", at, attachment={"type": "file", "filename": path, "content": text}
        )
        return [(1, rows)], True
    parts: list[Part] = []
    first = rng.randint(1, len(rows))
    while first <= len(rows):
        last = rng.randint(first, len(rows))
        parts.append((first, rows[first - 1 : last]))
        first = last + rng.randint(2, 9)
    snippet = "\n...\n".join(
        "\n".join(f"{n}\t{row}" for n, row in enumerate(part, start)) for start, part in parts
    )
    note = {"type": "edited_text_file", "filename": path, "snippet": snippet}
    writer.line("attachment", at, attachment=note)
    return parts, False
