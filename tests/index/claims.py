"""Source files that say what is true of them, and the checker that holds us to it.

A case is one text with several files in it, each after a line `# --- path` (in the comment style of
its language). A comment that starts with `^` is a claim about the last line of code above it:

    ^ calls shop.total                 one call on the line reaches it (and every edge is claimed)
    ^ calls shop.total by alias        … for that reason
    ^ ambiguous a.run, b.run           a call with exactly these candidates
    ^ external os.path.join            a call that leaves the program, as it is named there
    ^ unresolved                       a call that is left open
    ^ defines method Cart.total        a symbol that starts on the line
    ^ imports shop:total as sum_up     an import; `shop as s` for a module, `shop:*` for everything
    ^ inherits Base                    the symbol on the line takes members from it
    ^ doc Adds it up.                  the first line of the comment or docstring
    ^ signature def total(self)        the signature of the symbol
    ^ hidden                           the symbol is not exported
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field

from holdfast.index.calls.resolve import Edge, OpenCall, Resolver
from holdfast.index.facts.extract import extract
from holdfast.index.facts.model import MODULE, FileFacts

_MARK = r"\s*(?:#|//|--|<!--|;)\s*"
_FILE = re.compile(_MARK + r"---\s*(\S+)")
_CLAIM = re.compile(_MARK + r"\^\s*(\w+)\s*(.*?)\s*(?:-->)?$")


@dataclass
class Written:
    """One file of a case, with its claims: (line, verb, rest)."""

    path: str
    lines: list[str] = field(default_factory=list)
    claims: list[tuple[int, str, str]] = field(default_factory=list)


def split(text: str) -> list[Written]:
    """The files of a case. Claims stay in the source as comments, which must not matter."""
    files: list[Written] = []
    last_code = 0
    for line in textwrap.dedent(text).strip("\n").split("\n"):
        if header := _FILE.match(line):
            files.append(Written(header.group(1)))
            last_code = 0
            continue
        assert files, "a case starts with the name of a file"
        here = files[-1]
        here.lines.append(line)
        if claim := _CLAIM.match(line):
            assert last_code, f"a claim above the first line of code: {line}"
            here.claims.append((last_code, claim.group(1), claim.group(2)))
        elif line.strip():
            last_code = len(here.lines)
    return files


def resolved(resolver: Resolver, path: str) -> tuple[list[Edge], list[OpenCall]]:
    """Every call of a file: those that reach a symbol, and those that stay open."""
    view = resolver.program.files[path]
    answers = [one for call in view.facts.calls for one in resolver.calls(view, call)]
    return [a for a in answers if isinstance(a, Edge)], [
        a for a in answers if isinstance(a, OpenCall)
    ]


def check(text: str) -> None:
    """Hold every claim of a case against the facts and the resolved calls."""
    files = split(text)
    assert any(f.claims for f in files), "a case claims something"
    facts = {f.path: extract(f.path, ("\n".join(f.lines) + "\n").encode()) for f in files}
    resolver = Resolver(facts.values())
    labels = {
        symbol.id: one.label(index)
        for one in facts.values()
        for index, symbol in enumerate(one.symbols)
    }
    for file in files:
        one = facts[file.path]
        assert not one.problems, f"{file.path}: {one.problems}"
        all_edges, all_open = resolved(resolver, file.path)
        claimed: dict[int, set[str]] = {}
        for line, verb, rest in file.claims:
            code = file.lines[line - 1].strip()
            here = f"{file.path}:{line}: {code}\n  claim: {verb} {rest}"
            edges = [e for e in all_edges if e.line == line]
            left = [o for o in all_open if o.line == line]
            seen = describe(edges, left, labels)
            if verb == "calls":
                target, _, reason = rest.partition(" by ")
                hits = [e for e in edges if labels[e.callee] == target]
                assert hits, f"{here}\n  found: {seen}"
                assert not reason or reason in {e.reason for e in hits}, f"{here}\n  found: {seen}"
                claimed.setdefault(line, set()).add(target)
            elif verb == "ambiguous":
                wanted = sorted(rest.split(", "))
                found = [sorted(labels[c] for c in o.candidates) for o in left if o.why == verb]
                assert wanted in found, f"{here}\n  found: {seen}"
                claimed.setdefault(line, set())
            elif verb == "external":
                assert rest in {o.detail for o in left if o.why == verb}, f"{here}\n  found: {seen}"
                claimed.setdefault(line, set())
            elif verb == "unresolved":
                assert any(o.why == verb for o in left), f"{here}\n  found: {seen}"
                claimed.setdefault(line, set())
            else:
                check_fact(one, line, verb, rest, here)
        for line, targets in claimed.items():
            found_targets = {labels[e.callee] for e in all_edges if e.line == line}
            extra = found_targets - targets
            assert not extra, f"{file.path}:{line}: also calls {sorted(extra)}"


def describe(edges: list[Edge], left: list[OpenCall], labels: dict[str, str]) -> str:
    parts = [f"calls {labels[e.callee]} by {e.reason} ({e.confidence})" for e in edges]
    parts += [
        f"{o.why} {o.text}: {o.detail} {[labels[c] for c in o.candidates]}".rstrip(" []")
        for o in left
    ]
    return "; ".join(parts) or "no call"


def check_fact(facts: FileFacts, line: int, verb: str, rest: str, here: str) -> None:
    symbols = [s for s in facts.symbols if s.span.first_line == line]
    named = {f"{s.kind} {s.qualified}" for s in symbols}
    if verb == "defines":
        assert rest in named, f"{here}\n  found: {sorted(named)}"
    elif verb == "imports":
        found = {
            f"{i.module}{':' + i.name if i.name else ''}"
            + (f" as {i.alias}" if i.alias and i.alias != (i.name or i.module) else "")
            for i in facts.imports
            if i.line == line
        }
        assert rest in found, f"{here}\n  found: {sorted(found)}"
    elif verb == "inherits":
        bases = {i.base for i in facts.inherits if i.line == line}
        assert rest in bases, f"{here}\n  found: {sorted(bases)}"
    elif verb == "doc":
        docs = {s.doc.split("\n")[0] for s in symbols}
        assert rest in docs, f"{here}\n  found: {sorted(docs)}"
    elif verb == "signature":
        signatures = {s.signature for s in symbols}
        assert rest in signatures, f"{here}\n  found: {sorted(signatures)}"
    elif verb == "hidden":
        assert any(not s.exported for s in symbols), f"{here}\n  found: {sorted(named)}"
    elif verb == "inside":
        parents = {facts.symbols[s.parent].qualified for s in symbols if s.parent != MODULE}
        assert rest in parents, f"{here}\n  found: {sorted(parents)}"
    else:
        raise AssertionError(f"{here}\n  no such claim")
