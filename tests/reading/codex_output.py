"""Outputs of commands as Codex 0.166 sends them to its model, whole or cut in the middle."""

from __future__ import annotations

import math

HEAD = "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\n"


def whole(output: str) -> str:
    """An output that fits."""
    size = math.ceil(len(output.encode()) / 4)
    return f"{HEAD}Original token count: {size}\nOutput:\n{output}"


def cut(output: str, room: int, unit: str = "tokens") -> str:
    """An output of ASCII text of which only `room` bytes are kept, half of them at each end."""
    if len(output) <= room:
        return whole(output)
    tokens = math.ceil(len(output) / 4)
    removed = tokens - room // 4 if unit == "tokens" else len(output) - room
    kept = (output[: room // 2], output[len(output) - room // 2 :])
    notice = f"Warning: truncated output (original token count: {tokens})\n"
    notice += f"Total output lines: {len(output.splitlines())}\n\n"
    body = f"{kept[0]}\u2026{removed} {unit} truncated\u2026{kept[1]}"
    return f"{HEAD}Original token count: {tokens}\nOutput:\n{notice}{body}"
