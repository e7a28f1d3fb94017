"""Answers as text: one renderer for each, used by the CLI and by MCP.

A `Surface` holds what differs between the places where the text is read: how a file is named, how a
call is written, and whether there are colours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from holdfast.index.answers import (
    Call,
    CallGraphAnswer,
    CallNode,
    Codebase,
    ManageAnswer,
    OutlineAnswer,
    SearchAnswer,
    SearchResult,
)
from holdfast.index.tools.outline_lines import outline_lines
from holdfast.text import counted

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
"""How lines begin that only a status needs: after a build that succeeded they say nothing new."""


@dataclass(frozen=True, slots=True)
class Surface:
    """How text is written where an answer is read. The default is for agents."""

    call: Callable[[Call], str]
    """A call as the reader would make it."""
    file: Callable[[str, str], str] = lambda tree, file: file
    """A file of a tree as the reader would name it."""
    message: Callable[[str], str] = str
    """A message; it may contain calls in words."""
    text: Callable[[str], str] = str
    """Text from a tree, safe to print here."""
    style: Callable[[str, Style], str] = lambda text, style: text
    columns: int | None = None
    """How wide lines may be; None for any width."""
    numbers: bool = False
    """Whether every line of a result is numbered, or only lines with gaps between them."""
    all_results: str = 'result_mode="raw"'
    """The option that shows results that are alike one by one."""


def warning_text(warning: str) -> str:
    """A warning without the code in front, which is for programs."""
    return warning.partition(":")[2] or warning


# list_codebases and manage_index


def codebases_text(codebases: Sequence[Codebase]) -> str:
    """Roots by section; the sections are in the order of the roots."""
    if not codebases:
        return NO_CODEBASES
    lines = ["## Codebases"]
    section = None
    for codebase in codebases:
        if codebase.section != section:
            section = codebase.section
            lines += ["", f"### {section}"]
        detail = f" ({_one_line(codebase.detail)})" if codebase.detail else ""
        lines.append(f"- {_one_line(codebase.path)}{detail}")
    return "\n".join([*lines, "", f"Total tracked: {len(codebases)}"])


def _one_line(text: str) -> str:
    """A path may contain a line break, which would look like another root."""
    return text if text.isprintable() else repr(text)


def built_text(started: ManageAnswer, final: ManageAnswer) -> str:
    """A finished build: the notes it began with, and the state it led to."""
    notes = started.human_text.splitlines()[:-1]
    state = final.human_text.splitlines()
    return "\n".join([*notes, *(line for line in state if not line.startswith(STATUS_ONLY))])


# file_outline and call_graph


def outline_text(
    answer: OutlineAnswer,
    surface: Surface,
    *,
    more: str = "there are more",
    tokens_max: int | None = None,
    deeper: str = "",
) -> str:
    """The symbols of a file; `more` says how to get those that were left out, and `deeper` how to
    get the detail that was left out to stay within `tokens_max`."""
    if answer.outline is None:
        lines = [surface.message(answer.message or answer.status)]
    else:
        symbols = answer.outline.symbols
        lines, shortened = outline_lines(symbols, tokens_max)
        lines = lines or ["No symbols."]
        if shortened:
            lines.append(f"[shortened; {deeper}]")
        if answer.has_more:
            lines.append(f"[{counted(len(symbols), 'symbol')} shown; {more}]")
    # A symbol that is not listed may be in a part that could not be parsed.
    lines += [f"[{warning_text(warning).partition(' ')[2]}]" for warning in answer.warnings]
    return "\n".join(lines)


def _caller(node: CallNode) -> str:
    """The caller of a call, with the lines to read for all of it."""
    return f"{node.symbol_label} ({node.span.start_line}-{node.span.end_line})"


def calls_text(answer: CallGraphAnswer, surface: Surface, *, more: str) -> str:
    """Calls, one to a line; or why there are none, with the symbols to choose from."""
    tree = answer.path
    if answer.status != "ok":
        lines = [surface.message(answer.message or answer.status)]
        for node in answer.nodes:
            at = f"{surface.file(tree, node.file)}:{node.span.start_line}"
            lines.append(f"  {node.symbol_id}  {node.symbol_label}  {at}")
        return "\n".join(lines)
    nodes = {node.symbol_id: node for node in answer.nodes}
    lines = [
        f"{_caller(nodes[edge.src_symbol_id])} -> {nodes[edge.dst_symbol_id].symbol_label}  "
        f"{surface.file(tree, edge.site.file)}:{edge.site.start_line}  "
        f"{edge.confidence:.2f} {edge.reason}"
        for edge in answer.edges
    ] or ["No calls found."]
    lines += [
        f"[{warning_text(warning)}]"
        for warning in answer.warnings
        if warning.startswith("CALL_GRAPH_SEVERAL:")
    ]
    unknown = answer.total_note_count
    if unknown:
        leads = "1 call leads" if unknown == 1 else f"{unknown} calls lead"
        lines.append(f"[{leads} out of the tree or could not be resolved]")
    if "CALL_GRAPH_EDGES_TRUNCATED" in answer.warnings:
        lines.append(f"[{counted(len(answer.edges), 'call')} shown; for more: {more}]")
    return "\n".join(lines)


# search_code


def search_text(answer: SearchAnswer, surface: Surface, *, next_page: str | None = None) -> str:
    """The results of a search that was answered; `next_page` is the call that continues it."""
    lines: list[str] = []
    for result in answer.results:
        tree = result.codebase_path or answer.path
        lines += [*_result_lines(result, tree, surface), ""]
    if not answer.results:
        lines.append("Nothing found.")
    decision = answer.freshness_decision
    if decision is not None and decision.stats is not None:
        stats = decision.stats
        lines.append(
            f"[{stats.added} new, {stats.modified} changed, {stats.removed} removed files since "
            "the index was made were taken as they are now]"
        )
    for warning in answer.warnings:
        lines.append(surface.style(f"[{surface.text(warning_text(warning))}]", "warning"))
    lines += [f"[{surface.message(r.message or '')}]" for r in answer.roots if r.status != "ok"]
    counts = answer.counts
    if counts is not None and counts.matched_lines:
        least = "" if counts.complete else "at least "
        matched = counted(counts.matched_lines, "matching line")
        files = counted(counts.matched_files or 0, "file")
        lines.append(surface.style(f"[{least}{matched} in {files}]", "dim"))
    if counts is not None and next_page is not None:
        page = f"results {counts.first}-{counts.last} of {counts.total}"
        lines.append(f"[{page}; continue: {next_page}]")
    return "\n".join(lines).rstrip("\n")


def _result_lines(result: SearchResult, tree: str, surface: Surface) -> Iterator[str]:
    span = result.span
    at = f"{surface.file(tree, result.file)}:{span.start_line}-{span.end_line}"
    label = surface.text(result.symbol_label or "")
    kind = result.symbol_kind or "module"
    yield "  ".join(
        part
        for part in (
            surface.style(surface.text(at), "heading"),
            surface.style(label, "name") if label else "",
            surface.style(kind, "dim") if kind != "module" else "",
            "[already in your context]" if result.in_context else "",
        )
        if part
    )
    lines = result_lines(result)
    yield from _shown_lines(result, lines, surface)
    if result.next is not None:
        left = span.end_line - span.start_line + 1 - len(lines)
        more = counted(left, "more line") if left > 0 else "long lines cut"
        yield f"        [{more}: {surface.call(result.next)}]"
    if result.alike_count:
        places = [f"{surface.file(tree, a.file)}:{a.span.start_line}" for a in result.alike]
        named = f": {', '.join(places)}" if places else ""
        rest = f", …; {surface.all_results} shows all" if result.alike_count > len(places) else ""
        yield f"        [{result.alike_count} more like it{named}{rest}]"


def _shown_lines(
    result: SearchResult, lines: Sequence[tuple[int, str]], surface: Surface
) -> Iterator[str]:
    if not surface.numbers and len(result.preview_spans or ()) < 2 and not result.matches:
        yield from (f"    {surface.text(text)}".rstrip() for _, text in lines)
        return
    marked = frozenset(result.matched_lines or ())
    before = None
    for number, text in lines:
        if before is not None and number != before + 1:
            yield surface.style(f"{'⋮':>6}", "dim")
        before = number
        gutter = surface.style(f"{number:>6}", "warning" if number in marked else "dim")
        text = surface.text(text.expandtabs(4))
        if surface.columns is not None and len(text) > surface.columns - 8:
            text = text[: surface.columns - 9] + "…"
        yield f"{gutter}  {text}".rstrip()


def result_lines(result: SearchResult) -> list[tuple[int, str]]:
    """The lines of a result that are shown, by number."""
    text = result.preview if result.preview is not None else result.content
    if text is None:
        return []
    if result.preview_spans is None:
        texts = text.removesuffix("\n").split("\n")
        return list(enumerate((t.removesuffix("\r") for t in texts), result.span.start_line))
    left = iter(text.split("\n"))
    lines: list[tuple[int, str]] = []
    for place, span in enumerate(result.preview_spans):
        if place:
            next(left)  # The mark between runs of lines.
        lines += zip(range(span.start_line, span.end_line + 1), left, strict=False)
    return lines
