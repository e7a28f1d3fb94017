"""What Claude Code itself adds about a file to a conversation: the lines count as shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast.reading.events import Forgotten, Printed
from holdfast.reading.hosts.claude_attachments import events
from tests.reading.test_host_lines import PATH, Claude, held

BROKEN: list[dict[str, Any]] = [
    {"snippet": ""},
    {"snippet": "1\tone\n\n... [9 lines truncated] ..."},
    {"snippet": "no numbers"},
    {"snippet": None},
]


def changed(snippet: str) -> dict[str, Any]:
    return {"type": "edited_text_file", "filename": PATH, "snippet": snippet}


def named(text: str, **more: Any) -> dict[str, Any]:
    lines = text.count("\n") + 1
    file = {"filePath": PATH, "content": text, "startLine": 1}
    file |= {"numLines": lines, "totalLines": lines}
    return {
        "type": "file",
        "filename": PATH,
        "content": {"type": "text", "file": file | more.pop("file", {})},
        **more,
    }


def test_lines_that_claude_showed_as_changed_replace_those_shown_before(tmp_path: Path) -> None:
    """A formatter changed a file, Claude Code showed the changed lines, and a checkout changed them
    back: the next read was answered *unchanged*, though the model saw other lines last."""
    claude = Claude(tmp_path)
    claude.read(1, ["one", "two", "three", "four", "five"], 5)
    claude.put("attachment", attachment=changed("2\tTWO\n3\tthree\n...\n5\tFIVE"))
    assert held(claude.log) == {1: "one", 2: "TWO", 3: "three", 4: "four", 5: "FIVE"}


def test_a_file_that_the_user_named_replaces_what_was_shown_before(tmp_path: Path) -> None:
    claude = Claude(tmp_path)
    claude.read(1, ["one", "two", "three"], 3)
    claude.put("attachment", attachment=named("one\nTWO\n"))
    assert held(claude.log) == {1: "one", 2: "TWO"}


def test_a_line_whose_number_starts_another_run_is_of_that_run() -> None:
    shown = events(changed("9\t1\ta\n10\t\tb\n2\tc"))
    assert shown == (Printed(PATH, 9, ("1\ta", "\tb")), Printed(PATH, 2, ("c",)))


@pytest.mark.parametrize("snippet", BROKEN)
def test_changed_lines_that_were_cut_leave_nothing_certain(snippet: dict[str, Any]) -> None:
    attachment = {"type": "edited_text_file", "filename": PATH} | snippet
    assert events(attachment) == (Forgotten(PATH),)


@pytest.mark.parametrize(
    "attachment",
    [
        named("one\ntwo\n", truncated=True),
        named("one\ntwo\n", file={"truncatedByTokenCap": True}),
        named("one\ntwo\n", file={"numLines": 2}),
        named("one\ntwo\n", file={"startLine": 0}),
        named("one\ntwo\n", file={"filePath": "/w/other.py"}),
        named(""),
        {"type": "file", "filename": PATH, "content": {"type": "image", "file": {"base64": "x"}}},
        {"type": "file", "filename": PATH},
    ],
)
def test_an_attached_file_that_is_not_certain_leaves_nothing_certain(
    attachment: dict[str, Any],
) -> None:
    assert events(attachment) == (Forgotten(PATH),)


@pytest.mark.parametrize(
    "attachment",
    [None, {}, {"type": "skill_listing", "content": "x"}, {"type": "file", "filename": "a.py"}],
)
def test_other_attachments_say_nothing_about_a_file(attachment: object) -> None:
    assert events(attachment) == ()
