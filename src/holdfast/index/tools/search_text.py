"""A search answer as text: the results, notes about them, and how to continue.

Designed to take few tokens: the best results are shown in full and later ones by their matching
lines, the lines of a result keep their numbers and lose their common indentation, results of one
file are together under its path, and one line at the end says how to read what was left out. A
search by pattern is a list of matching lines, and a search by file a list of files.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence

from holdfast.index.answers import Span
from holdfast.index.search.comment_lines import is_comment_line
from holdfast.index.search.results import MATCHES_MAX
from holdfast.index.search.roles import role_of
from holdfast.index.search_answers import FurtherPlace, SearchAnswer, SearchResult
from holdfast.index.tools.render import Surface, code_text, span_text, warning_text
from holdfast.index.tools.unmatched_words import UNMATCHED
from holdfast.text import common_margin, counted, for_looking, only_closes

LABEL_PARTS = 2


def search_text(answer: SearchAnswer, surface: Surface, *, next_page: str | None = None) -> str:
    """The results of a successful search; `next_page` is the call that continues it."""
    results, tests = _without_tests(answer, _by_file(answer))
    first = [text for text in answer.warnings if text.startswith(f"{UNMATCHED}:")]
    lines = [_warning(text, surface) for text in first]
    lines += [] if results else ["Nothing found."]
    lists_comments = all(_is_comment(text, one) for one in results for _, text in _listed(one))
    file = None
    pointers: list[SearchResult] = []
    for result in results:
        tree = result.codebase_path or answer.path
        named = surface.file(tree, result.file)
        if answer.group_by == "file" and answer.result_mode == "grouped":
            lines.append(_file_line(result, named, surface))
        elif _is_pointer(result) and not surface.is_terminal:
            pointers.append(result)
        else:
            again = named == file
            lines += _result_lines(result, tree, named, surface, again, lists_comments)
        file = named
        if result is answer.results[0] and answer.values:
            tree = result.codebase_path or answer.path
            lines.append("  values:")
            lines += [
                f"  {'' if one.file == result.file else surface.text(surface.file(tree, one.file))}"
                f":{one.line}: {surface.text(one.text)}"
                for one in answer.values
            ]
    lines += _pointer_lines(answer, pointers, surface)
    lines += _left_out(answer, surface)
    decision = answer.freshness_decision
    if decision is not None and decision.stats is not None:
        stats = decision.stats
        lines.append(
            f"[{stats.added} new, {stats.modified} changed, {stats.removed} removed files since "
            "the index was made were taken as they are now]"
        )
    lines += [_warning(text, surface) for text in answer.warnings if text not in first]
    lines += [f"[{surface.message(r.message or '')}]" for r in answer.roots if r.status != "ok"]
    counts = answer.counts
    if counts is not None and counts.matched_lines:
        least = "" if counts.complete else "at least "
        matched = counted(counts.matched_lines, "matching line")
        files = counted(counts.matched_files or 0, "file")
        here = more = ""
        if next_page is not None and not tests:
            shown = sum(one.match_count or 0 for one in results)
            here, more = f"{shown} of ", f"; more: {next_page}"
        lines.append(surface.style(f"[{here}{least}{matched} in {files}{tests}{more}]", "dim"))
    elif counts is not None and next_page is not None:
        page = f"results {counts.first}-{counts.last} of {counts.total}"
        lines.append(f"[{page}; more: {next_page}]")
    return "\n".join(lines).rstrip("\n")


def _without_tests(
    answer: SearchAnswer, results: list[SearchResult]
) -> tuple[list[SearchResult], str]:
    """The results of a list of lines without those in tests, and what was left out.

    Tests come last. All results if there are only tests, or if the query names paths.
    """
    counts = answer.counts
    if counts is None or not counts.matched_lines or answer.result_mode == "raw":
        return results, ""
    code = [one for one in results if role_of(one.file) != "test"]
    if len(code) in (0, len(results)) or "path:" in answer.query or counts.first > 1:
        return results, ""
    left = counts.matched_lines - sum(one.match_count or 0 for one in code)
    return code, f"; {left} of them in tests, listed with path:* in the query"


def _label(label: str | None) -> str:
    """A symbol by the last two parts of its name: the path says the rest."""
    return ".".join((label or "").split(".")[-LABEL_PARTS:])


def _warning(warning: str, surface: Surface) -> str:
    return surface.style(f"[{surface.text(warning_text(warning))}]", "warning")


def _by_file(answer: SearchAnswer) -> list[SearchResult]:
    """The results grouped by file, in the order of the best result of each file."""
    files: dict[tuple[str | None, str], list[SearchResult]] = {}
    for result in answer.results:
        files.setdefault((result.codebase_path, result.file), []).append(result)
    if any(result.match_count for result in answer.results):
        for found in files.values():
            found.sort(key=lambda result: result.span.start_line)
    return [result for found in files.values() for result in found]


def _file_line(result: SearchResult, named: str, surface: Surface) -> str:
    """One line of a list of files, with the best symbol or the number of matches."""
    best = result.symbol_label or ""
    if result.match_count:
        best = counted(result.match_count, "matching line")
    path = surface.style(surface.text(named), "heading")
    return f"{path}  {surface.text(best)}".rstrip()


def _result_lines(
    result: SearchResult,
    tree: str,
    named: str,
    surface: Surface,
    again: bool,
    lists_comments: bool,
) -> Iterator[str]:
    """One result of the file `named`; in a list of lines, `again` leaves the file name out."""
    lines = result_lines(result)
    if result.match_count and result.content is None:
        yield from _matches(result, "" if again else named, surface, lists_comments)
        return
    at = surface.style(surface.text(f"{named}:{span_text(result.span)}"), "heading")
    label = surface.text(_label(result.symbol_label))
    kind = result.symbol_kind or "module"
    heading = [at, surface.style(label, "name") if label else ""]
    if surface.is_terminal and kind != "module":
        heading.append(surface.style(kind, "dim"))
    if result.in_context:
        heading.append("[already in your context]")
    yield "  ".join(part for part in heading if part)
    yield from _shown_lines(result, lines, surface)
    for place in result.further:
        if place.preview is not None:
            yield from _companion(place, result.language, surface)
    yield from _alike(result, tree, surface)
    yield from _further(result, surface)
    if surface.is_terminal:
        yield ""


def _is_pointer(result: SearchResult) -> bool:
    """Whether a result is only a place, with nothing below it."""
    has_text = result.preview is not None or result.content is not None
    return not (has_text or result.match_count or result.further or result.in_context)


def _pointer_lines(
    answer: SearchAnswer, pointers: Sequence[SearchResult], surface: Surface
) -> Iterator[str]:
    """Results that are only places: a line for each directory, which is named once."""
    folders: dict[str, list[tuple[str, str]]] = {}
    for one in pointers:
        named = surface.file(one.codebase_path or answer.path, one.file)
        folder, slash, name = named.rpartition("/")
        copies = f" [{_copies(one, surface)}]" if one.alike_count else ""
        place = f"{name}:{span_text(one.span)}", f"{_label(one.symbol_label)}{copies}"
        folders.setdefault(folder + slash, []).append(place)
    for folder, places in folders.items():
        if len(places) > 1 and folder:
            together = ", ".join(f"{at} {label}".rstrip() for at, label in places)
            yield surface.text(f"{folder} {together}")
        else:
            yield from (surface.text(f"{folder}{at}  {label}").rstrip() for at, label in places)


def _listed(result: SearchResult) -> list[tuple[int, str]]:
    """The lines of a result in a list of matching lines; of any other result none."""
    return result_lines(result) if result.match_count and result.content is None else []


def _is_comment(text: str, result: SearchResult) -> bool:
    return is_comment_line(text, result.language or "")


def _matches(
    result: SearchResult, named: str, surface: Surface, lists_comments: bool
) -> Iterator[str]:
    """Matching lines as `file:line: text`, the first with its symbol.

    Beside code, comments are only numbers.
    """
    lines = _listed(result)
    label = surface.text(_label(result.symbol_label))
    symbol = "  " + surface.style(f"({label})", "name") if label else ""
    comments: list[str] = []
    for number, text in lines:
        if not lists_comments and _is_comment(text, result):
            comments.append(str(number))
            continue
        at = surface.style(surface.text(f"{named}:{number}:"), "heading")
        yield f"{at} {_fitted(text.strip(), surface)}{symbol}"
        named, symbol = "", ""
    if comments:
        at = surface.style(surface.text(f"{named}:{','.join(comments)}:"), "heading")
        yield f"{at} [{'comments' if len(comments) > 1 else 'comment'}]{symbol}"
        named, symbol = "", ""
    left = (result.match_count or 0) - len(lines)
    if left > 0:
        more = counted(left, "more matching line" if lines else "matching line")
        yield f"{named}:{span_text(result.span)}: [{more}]{symbol}"


def _alike(result: SearchResult, tree: str, surface: Surface) -> Iterator[str]:
    if not result.alike_count:
        return
    places = [f"{surface.file(tree, a.file)}:{span_text(a.span)}" for a in result.alike]
    if not places:
        yield f"  [{_copies(result, surface)}]"
        return
    rest = f", …; {surface.all_results} shows all" if result.alike_count > len(places) else ""
    yield f"  [{result.alike_count} more like it: {', '.join(places)}{rest}]"


def _copies(result: SearchResult, surface: Surface) -> str:
    """How many near copies a result has, and the option that shows them."""
    return f"{result.alike_count} more like it: {surface.all_results}"


def _further(result: SearchResult, surface: Surface) -> Iterator[str]:
    """Other places of the file, each by its lines, which a read takes, and its name if any."""
    if not result.further_count:
        return
    places = []
    for place in result.further:
        if place.preview is not None:
            continue
        name = (place.symbol_label or "").rpartition(".")[2]
        at = span_text(place.span)
        noun = "lines" if "-" in at else "line"
        places.append(f"{at} {name}" if name else f"{noun} {at}")
    rest = ["…"] if result.further_count > len(result.further) else []
    if places:
        yield surface.text(f"  also {', '.join([*places, *rest])}")


def _companion(place: FurtherPlace, language: str | None, surface: Surface) -> Iterator[str]:
    """Another place of the same file with its code."""
    at = surface.style(f":{span_text(place.span)}", "heading")
    label = surface.style(surface.text(_label(place.symbol_label)), "name")
    yield f"{at}  {label}".rstrip()
    lines = _numbered(place.preview or "", place.preview_spans or ())
    yield from _rows(lines, (), surface, language)


def _left_out(answer: SearchAnswer, surface: Surface) -> Iterator[str]:
    """How to read the rest, if lines of any result were left out."""
    if answer.group_by == "file" and answer.result_mode == "grouped":
        return
    cut = [one for one in answer.results if one.next is not None and not one.match_count]
    if cut and cut[0].next is not None:
        yield f"[shortened; read on: {surface.call(cut[0].next)}]"


def _shown_lines(
    result: SearchResult, lines: Sequence[tuple[int, str]], surface: Surface
) -> Iterator[str]:
    matched = {*(result.matched_lines or ()), *(match.line for match in result.matches)}
    return _rows(lines, matched, surface, result.language)


def _rows(
    lines: Sequence[tuple[int, str]],
    matched: Collection[int],
    surface: Surface,
    language: str | None,
) -> Iterator[str]:
    """Lines with their numbers; those with a common indentation have a space for each level.

    For a program, lines that only end a block and do not match are left out: the indentation says
    the same.
    """
    marked = frozenset(matched)
    if not surface.is_terminal:
        yield from _compact_rows(lines, marked, surface, language or "")
        return
    before = None
    for number, text in lines:
        if before is not None and number != before + 1:
            yield surface.style(f"{'⋮':>6}", "dim")
        before = number
        gutter = surface.style(f"{number:>6}", "warning" if number in marked else "dim")
        yield f"{gutter}  {_fitted(text.expandtabs(4), surface)}".rstrip()


def _compact_rows(
    lines: Sequence[tuple[int, str]], marked: Collection[int], surface: Surface, language: str
) -> Iterator[str]:
    """Without the lines that only close a block; exact if no other line between them is missing."""
    names_all = len(marked) < MATCHES_MAX
    shown = [
        (number, text)
        for number, text in lines
        if number in marked or not (only_closes(text, language) if names_all else not text.strip())
    ]
    texts = [text for _, text in shown]
    gaps = len(lines) > 1 and lines[-1][0] - lines[0][0] >= len(lines)
    if gaps or common_margin(texts):
        texts = for_looking(texts)
    for (number, _), text in zip(shown, texts, strict=True):
        yield f"{number} {code_text(text, surface)}".rstrip()


def printed_lines(
    answer: SearchAnswer, surface: Surface
) -> Iterator[tuple[SearchResult, int, str]]:
    """The lines that the text shows exactly as they are in the file, with their numbers.

    Not lines that lost indentation or trailing white space, or were cut.
    """
    if answer.group_by == "file" and answer.result_mode == "grouped":
        return
    for result in answer.results:
        if result.match_count and result.content is None:
            continue
        lines = result_lines(result)
        rows = _shown_lines(result, lines, surface)
        shown = dict(row.split(" ", 1) for row in rows if " " in row)
        for number, text in lines:
            cut = text.startswith("…") or text.endswith("…")
            if not cut and shown.get(str(number)) == text:
                yield result, number, text


def shown_lines(answer: SearchAnswer, root: str | None) -> dict[str, list[tuple[int, int]]]:
    """The lines of each file that an answer is about."""
    shown: dict[str, list[tuple[int, int]]] = {}
    for one in answer.results:
        tree = one.codebase_path or root
        if tree is not None:
            span = (one.span.start_line, one.span.end_line)
            shown.setdefault(os.path.join(tree, one.file), []).append(span)
    return shown


def _fitted(text: str, surface: Surface) -> str:
    text = surface.text(text)
    if surface.columns is not None and len(text) > surface.columns - 8:
        text = text[: surface.columns - 9] + "…"
    return text


def result_lines(result: SearchResult) -> list[tuple[int, str]]:
    """The lines of a result that are shown, by number."""
    text = result.preview if result.preview is not None else result.content
    if text is None:
        return []
    if result.preview_spans is None:
        texts = text.removesuffix("\n").split("\n")
        return list(enumerate((t.removesuffix("\r") for t in texts), result.span.start_line))
    return _numbered(text, result.preview_spans)


def _numbered(text: str, spans: Sequence[Span]) -> list[tuple[int, str]]:
    """The lines of a preview, by number."""
    left = iter(text.split("\n"))
    lines: list[tuple[int, str]] = []
    for place, span in enumerate(spans):
        if place:
            next(left)  # The mark between runs of lines.
        lines += zip(range(span.start_line, span.end_line + 1), left, strict=False)
    return lines
