"""Answers as text: one renderer for each, used by the CLI and by MCP.

A `Surface` describes where the text is read: how a file is named, how a call is written, and
whether there are colours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from holdfast.index.answers import (
    Call,
    Codebase,
    ManageAnswer,
    OutlineAnswer,
    Span,
)
from holdfast.index.generations.proof import NO_PROOF
from holdfast.index.tools.outline_lines import outline_lines
from holdfast.text import counted, line_range

Style = Literal["heading", "name", "dim", "warning"]

NO_CODEBASES = (
    "No codebases are currently tracked.\n"
    "To track one, call manage_index with action='create' and its path."
)
STATUS_ONLY = (
    "Last updated",
    "Runtime fingerprint",
    "Indexed fingerprint",
    "Fingerprint source",
    "Reindex reason: none",
)
"""Prefixes of lines that only a status shows; after a successful build they say nothing new."""


class Surface(msgspec.Struct, frozen=True):
    """How text is written for one kind of reader. The default is for agents."""

    call: Callable[[Call], str]
    """Renders a call as the reader would make it."""
    file: Callable[[str, str], str] = lambda tree, file: file
    """Renders a file of a tree as the reader would name it."""
    message: Callable[[str], str] = str
    """Renders a message, which may mention calls."""
    text: Callable[[str], str] = str
    """Makes text from a tree safe to print."""
    style: Callable[[str, Style], str] = lambda text, style: text
    columns: int | None = None
    """The maximum width of lines; None for no limit."""
    is_terminal: bool = False
    """Whether the reader is a person: then lines are aligned and gaps are marked."""
    all_results: str = 'result_mode="raw"'
    """The option that shows similar results one by one."""


def span_text(span: Span) -> str:
    """The lines of a span, as a reader types them."""
    return line_range(span.start_line, span.end_line)


def code_text(text: str, surface: Surface) -> str:
    """A line of code, safe to print; a tab is as short as indentation gets, and harmless."""
    return "\t".join(map(surface.text, text.split("\t")))


def warning_text(warning: str) -> str:
    """A warning without its code prefix, which is for programs."""
    return warning.partition(":")[2] or warning


# list_codebases and manage_index


def codebases_text(
    codebases: Sequence[Codebase],
    detail_of: Callable[[Codebase], str | None] = lambda codebase: codebase.detail,
) -> str:
    """Roots by section, in the given order; a person reads details by `detail_words`."""
    if not codebases:
        return NO_CODEBASES
    lines = ["## Codebases"]
    section = None
    for codebase in codebases:
        if codebase.section != section:
            section = codebase.section
            lines += ["", f"### {section}"]
        text = detail_of(codebase)
        detail = f" ({_one_line(text)})" if text else ""
        lines.append(f"- {_one_line(codebase.path)}{detail}")
    return "\n".join([*lines, "", f"Total tracked: {len(codebases)}"])


OTHER_SETTINGS = "made with other settings or by another version"
REASONS = {
    "fingerprint_mismatch": OTHER_SETTINGS,
    "completion_proof_fingerprint_mismatch": OTHER_SETTINGS,
    "legacy_unverified_fingerprint": "its settings are unknown",
    "missing_fingerprint": "its settings are unknown",
    "stale_local:damaged": "it is damaged",
    **{f"stale_local:{reason}": words for reason, words in NO_PROOF.items()},
}
"""Details of roots that are names for programs, in words."""


def detail_words(codebase: Codebase) -> str:
    """The detail of a root for a person; empty if there is none."""
    detail = codebase.detail or ""
    return REASONS.get(detail, detail.removeprefix("newer_format: "))


def _one_line(text: str) -> str:
    """Escape a path with a line break, which would look like another root."""
    return text if text.isprintable() else repr(text)


def built_text(started: ManageAnswer, final: ManageAnswer) -> str:
    """A finished build: its initial notes and its final state."""
    notes = started.human_text.splitlines()[:-1]
    state = final.human_text.splitlines()
    return "\n".join([*notes, *(line for line in state if not line.startswith(STATUS_ONLY))])


INTERNAL = ("Runtime fingerprint", "Indexed fingerprint", "Fingerprint source", "Reindex reason")
"""Prefixes of status lines that are for programs; JSON has them."""


def without_internals(text: str) -> str:
    """A status without the lines for programs."""
    return "\n".join(line for line in text.split("\n") if not line.startswith(INTERNAL))


# file_outline


def outline_text(
    answer: OutlineAnswer,
    surface: Surface,
    *,
    more: str = "there are more",
    tokens_max: int | None = None,
    deeper: str = "",
) -> str:
    """The symbols of a file.

    `more` says how to get symbols that were left out, and `deeper` how to get the detail that was
    left out to stay within `tokens_max`.
    """
    if answer.outline is None:
        lines = [surface.message(answer.message or answer.status)]
    else:
        symbols = answer.outline.symbols
        lines, shortened = outline_lines(symbols, tokens_max, aligned=surface.is_terminal)
        lines = lines or ["No symbols."]
        if shortened:
            lines.append(f"[shortened; {deeper}]")
        if answer.has_more:
            lines.append(f"[{counted(len(symbols), 'symbol')} shown; {more}]")
    # A symbol that is not listed may be in a part that could not be parsed.
    lines += [f"[{warning_text(warning).partition(' ')[2]}]" for warning in answer.warnings]
    return "\n".join(lines)
