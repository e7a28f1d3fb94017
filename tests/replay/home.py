"""A user's home with a session of Claude Code in it, as the agent would have written it."""

from __future__ import annotations

from pathlib import Path

from holdfast.replay.writers import ClaudeWriter, Read

FUNCTIONS = 60
LONG = [
    line
    for n in range(FUNCTIONS)
    for line in (f"def function_{n}(value):", *(f"    step_{n}_{i} = {i}" for i in range(16)), "")
]


def write_session(user_home: Path, rows: list[str] | None = None, name: str = "s1") -> Path:
    """A session that reads one long file twice, and some lines of it once more."""
    rows = LONG if rows is None else rows
    folder = user_home / ".claude" / "projects" / "p"
    folder.mkdir(parents=True, exist_ok=True)
    writer = ClaudeWriter(folder)
    writer.say("user", 20, 1)
    for count in (len(rows), len(rows), 40):
        given = {"file_path": "/w/f0.txt"}
        if count < len(rows):
            given |= {"offset": "1", "limit": str(count)}
        call = writer.call("Read", given, 2)
        writer.read_result(call, Read(0, 1, tuple(rows[:count]), len(rows)), None, 3)
    path = folder / f"{name}.jsonl"
    writer.path.rename(path)
    return path
