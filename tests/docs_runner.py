"""Runs what the documentation shows.

A fenced block marked `console` is a terminal session: each `$ holdfast …` line is run, and what it
prints must be what the page says. `…` stands for anything, on a line of its own for any lines, and
times and session names may differ. A block marked `python` is run as a program. All blocks of a
page share one directory and one home, in order. Other blocks are only shown.
"""

import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.cli.main import main

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    """The language and the text of each fenced block."""
    for match in FENCE.finditer(page.read_text(encoding="utf-8")):
        yield match[1], match[2]


def run_page(page: Path, home: Path, patch: pytest.MonkeyPatch) -> int:
    """Run every block of a page; how many there were."""
    patch.setenv("HOLDFAST_HOME", str(home / "home"))
    patch.setenv("HOLDFAST_AUTHOR", "you")
    patch.delenv("HOLDFAST_DATABASE_URL", raising=False)
    (home / "work").mkdir()
    patch.chdir(home / "work")
    names: dict[str, object] = {"__name__": "__docs__"}
    count = 0
    for language, text in blocks(page):
        if language == "console":
            _run_session(text)
            count += 1
        elif language == "python":
            exec(compile(text, str(page), "exec"), names)
            count += 1
    return count


def _run_session(text: str) -> None:
    steps: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            steps.append((line[2:], []))
        else:
            assert steps, f"output before any command: {line!r}"
            steps[-1][1].append(line)
    for command, expected in steps:
        printed = _run(command)
        wanted = "\n".join(expected).strip("\n")
        assert _pattern(wanted).fullmatch(printed.strip("\n") + "\n"), (
            f"$ {command}\nthe page says:\n{wanted}\n\nit printed:\n{printed}"
        )


def _run(command: str) -> str:
    words = shlex.split(command, comments=True)
    assert words[0] == "holdfast", f"a console block runs holdfast, not {words[0]!r}"
    out = io.StringIO()
    # --help and usage errors end the program.
    ended = contextlib.suppress(SystemExit)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), ended:
        main(words[1:])
    return out.getvalue()


def _pattern(wanted: str) -> re.Pattern[str]:
    text = "".join(
        "(?:.*\n)*?" if line == "…" else re.escape(line).replace("…", ".*") + "\n"
        for line in wanted.split("\n")
    )
    text = re.sub(r"\d{4}\\-\d\d\\-\d\dT[\d:]+\\\.\d{3}Z", r"[-\\dT:.]+Z", text)
    text = re.sub(r"cli\\-[0-9a-f]{8}", r"cli-[0-9a-f]{8}", text)
    return re.compile(text)
