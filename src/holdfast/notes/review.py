"""What a branch changes, each change beside the code that it is about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.links import CodeLink, Judged, links_in
from holdfast.store.memory.answers import BranchDiff
from holdfast.store.memory.render import TextLine, text_of
from holdfast.text import counted

if TYPE_CHECKING:
    from holdfast.store.author import Author
    from holdfast.store.branch_merge import DocumentDiff
    from holdfast.store.store import Store

LINES_SHOWN = 12
VALUE_WIDTH = 100

Code = tuple[Judged, tuple[str, ...]]
"""A link as it is now, and the lines of its code."""


@dataclass(frozen=True, slots=True)
class ReviewedChange:
    """How one document changed, who wrote it last, and the code it links to."""

    diff: DocumentDiff
    author: Author | None
    code: tuple[Code, ...]
    document: Any

    def to_wire(self) -> dict[str, Any]:
        return {
            **self.diff.to_wire(),
            **({"author": self.author.to_wire()} if self.author else {}),
            "code": [
                {**judged.link.to_wire()["code"], "state": judged.state, "text": list(lines)}
                | ({} if judged.lines is None else {"lines": list(judged.lines)})
                for judged, lines in self.code
            ],
        }


@dataclass(frozen=True, slots=True)
class Review:
    """Every document that a branch changed since it was forked."""

    branch: str
    changes: tuple[ReviewedChange, ...]

    def to_wire(self) -> dict[str, Any]:
        return {"branch": self.branch, "changes": [one.to_wire() for one in self.changes]}

    def lines(self) -> list[TextLine]:
        if not self.changes:
            return [TextLine(f"{self.branch} changes nothing")]
        lines = [TextLine(f"{self.branch} changes {counted(len(self.changes), 'document')}")]
        for one in self.changes:
            head, *rest = text_of(BranchDiff((one.diff,)), VALUE_WIDTH)
            assert isinstance(head, TextLine)
            by = f"  ({one.author})" if one.author else ""
            lines.append(TextLine(head.text + by, head.tone))
            if one.diff.kind == "added":
                from holdfast.notes.note import first_words

                lines.append(TextLine(f"    {first_words(one.document, 2 * VALUE_WIDTH)}"))
            lines += [part for part in rest if isinstance(part, TextLine)]
            for judged, code in one.code:
                lines += _code_lines(judged, code)
        return lines


def _code_lines(judged: Judged, code: tuple[str, ...]) -> list[TextLine]:
    what = " ".join(filter(None, (judged.link.path, judged.link.symbol)))
    where = "" if judged.lines is None else f":{judged.lines[0]}-{judged.lines[1]}"
    lines = [TextLine(f"    {judged.state}: {what}{where}, {judged.why}")]
    lines += [TextLine(f"      {line}") for line in code]
    if judged.lines is not None:
        rest = judged.lines[1] - judged.lines[0] + 1 - len(code)
        if rest > 0:
            lines.append(TextLine(f"      … {counted(rest, 'more line')}"))
    return lines


def review(
    store: Store,
    branch: str,
    judge: Callable[[CodeLink], Judged],
    read: Callable[[CodeLink], bytes | None],
) -> Review:
    """The changes of a branch. `read` returns the file of a link, or None."""
    changes = []
    for diff in store.diff(branch):
        state = store.state(diff.id, branch)
        document = None if state is None else state.document
        code = []
        for _, link in links_in(document):
            judged = judge(link)
            code.append((judged, _shown(judged, read(link))))
        author = None if state is None else store.author_of(state)
        changes.append(ReviewedChange(diff, author, tuple(code), document))
    return Review(branch, tuple(changes))


def _shown(judged: Judged, source: bytes | None) -> tuple[str, ...]:
    """The first lines of the linked code; of a whole file none, because its path says enough."""
    if source is None or judged.lines is None or judged.link.symbol is None:
        return ()
    first, last = judged.lines
    rows = source.split(b"\n")[first - 1 : min(last, first - 1 + LINES_SHOWN)]
    return tuple(row.decode("utf-8", "replace").rstrip("\r") for row in rows)
