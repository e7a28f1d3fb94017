"""Our answer for each call held against the judge's, and the tables made of that."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from bench.calls.judges import Judged
from holdfast.index.calls.resolve import Edge, OpenCall, Resolver
from holdfast.index.facts.model import MODULE, FileFacts

BANDS = ((0.95, 1.01), (0.9, 0.95), (0.8, 0.9), (0.6, 0.8), (0.0, 0.6))

UNDECIDED = frozenset({"constructor", "__class__", "call", "apply", "bind"})
"""`new this.constructor()`, `f.call(x)`: for the judge any function, or the platform's own."""


ASIDE = frozenset({
    "called back", "called back on an event", "decorated", "inherited constructor",
    "called property", "run by the constructor", "overridden in a subclass",
})  # fmt: skip
"""What a call reaches besides what it names: a judge of names says nothing about it."""


class Verdict(NamedTuple):
    """One call that both sides know. `outcome` is "right", "wrong", "missed" or "unknown".

    Unknown: we name a symbol, and the judge names something that is neither a function nor a class
    of the package nor anything outside of it.
    """

    outcome: str
    confidence: float
    reason: str
    path: str
    line: int
    text: str
    ours: str
    theirs: str


@dataclass
class Score:
    """The verdicts of one language."""

    verdicts: list[Verdict] = field(default_factory=list)
    unmatched: int = 0
    """Calls of the judge that extraction does not record."""

    def precision(self, least: float = 0.0) -> tuple[int, int]:
        """How many edges of at least this confidence are right, of how many that are judged."""
        sure = [v for v in self.verdicts if v.confidence >= least]
        right = sum(v.outcome == "right" for v in sure)
        return right, right + sum(v.outcome == "wrong" for v in sure)

    def recall(self, least: float = 0.0) -> tuple[int, int]:
        """How many calls that the judge resolves inside the package are found."""
        known = [v for v in self.verdicts if v.theirs]
        found = sum(v.outcome == "right" and v.confidence >= least for v in known)
        return found, len(known) + self.unmatched


def judge(files: Iterable[FileFacts], judged: Iterable[Judged]) -> Score:
    """Compare every call that the judge has an answer for."""
    facts = {one.path: one for one in files}
    resolver = Resolver(facts.values())
    ours: dict[tuple[str, int, str], list[int]] = defaultdict(list)
    for path, one in facts.items():
        for number, call in enumerate(one.calls):
            ours[path, call.start, call.name].append(number)
    theirs: dict[tuple[str, int, str], list[Judged]] = defaultdict(list)
    for each in judged:
        theirs[each.path, each.start, each.name].append(each)
    score = Score()
    labels = {s.id: (p, i) for p, one in facts.items() for i, s in enumerate(one.symbols)}
    for key, answers in theirs.items():
        numbers = ours.get(key, [])
        wanted = _symbols(facts, answers[0]) if len(answers) == 1 else set()
        if len(answers) > 1 or len(numbers) > 1 or key[0] not in facts:
            continue  # a chain that calls one name twice
        if key[2] in UNDECIDED:
            continue
        if not numbers:
            score.unmatched += bool(wanted)
            continue
        view = resolver.program.files[key[0]]
        found = [
            one
            for one in resolver.calls(view, view.facts.calls[numbers[0]])
            if not (isinstance(one, Edge) and one.reason in ASIDE)
        ]
        places = [p for p in answers[0].places if not _own_declaration(p.path)]
        inside = bool(places) and all(p.path in facts for p in places)
        decided = bool(places) and (bool(wanted) or not inside)
        made = [_verdict(facts, labels, answer, wanted, decided) for answer in found]
        verdicts = [v for v in made if v is not None]
        # Of several callees one that is wrong decides.
        verdicts.sort(key=lambda v: ("wrong", "missed", "right", "unknown").index(v.outcome))
        score.verdicts += verdicts[:1]
    return score


def _own_declaration(path: str) -> bool:
    """Whether a place is in a declaration file of the package: it says nothing about the code."""
    return path.endswith(".d.ts") and "node_modules" not in path


def _verdict(
    facts: dict[str, FileFacts],
    labels: dict[str, tuple[str, int]],
    answer: Edge | OpenCall,
    wanted: set[tuple[str, int]],
    decided: bool,
) -> Verdict | None:
    theirs = ", ".join(sorted(facts[p].label(i) for p, i in wanted))
    if isinstance(answer, OpenCall):
        if not wanted:
            return None
        return Verdict("missed", 0, answer.why, answer.path, answer.line, answer.text,
                       answer.detail, theirs)  # fmt: skip
    path, index = labels[answer.callee]
    ours = facts[path].label(index)
    agreed = {(path, index), (path, _class(facts[path], index))} & wanted
    # Several definitions of one name are one function: overloads, or one that replaces another.
    agreed |= {(p, i) for p, i in wanted if p == path and facts[p].label(i) == ours}
    outcome = "right" if agreed else "wrong" if decided else "unknown"
    return Verdict(outcome, answer.confidence, answer.reason, answer.path, answer.line, "", ours,
                   theirs)  # fmt: skip


def _class(facts: FileFacts, index: int) -> int:
    """The class of a constructor; calling a class and calling its constructor are the same."""
    symbol = facts.symbols[index]
    return symbol.parent if symbol.kind == "constructor" and symbol.parent != MODULE else index


def _symbols(facts: dict[str, FileFacts], judged: Judged) -> set[tuple[str, int]]:
    """The symbols of ours that a judge's places are."""
    found = set()
    for place in judged.places:
        one = facts.get(place.path)
        if one is None or place.kind == "other":
            continue
        here = [i for i, s in enumerate(one.symbols)
                if s.span.first_line <= place.line <= s.span.last_line]  # fmt: skip
        named = [i for i in here if one.symbols[i].name.lstrip("#") == judged.name.lstrip("#")]
        makers = [i for i in here if one.symbols[i].kind in ("constructor", "class")]
        # The language server answers for the call around a name that it does not know.
        exact = place.path.endswith(".py")
        for index in (named if exact else named or makers or here)[-1:]:
            found.add((place.path, index))
            found.add((place.path, _class(one, index)))
    return found


def tables(language: str, score: Score, show: int) -> list[str]:
    """The lines to print for one language."""
    lines = [f"\n## {language}", ""]
    for least in (0.0, 0.6, 0.9):
        right, edges = score.precision(least)
        found, known = score.recall(least)
        lines.append(
            f"confidence ≥ {least:.1f}: precision {right}/{edges} = {_share(right, edges)}, "
            f"recall {found}/{known} = {_share(found, known)}"
        )
    lines += [f"calls not recorded: {score.unmatched}", "", "| confidence | edges | right |",
              "|---|---|---|"]  # fmt: skip
    for low, high in BANDS:
        band = [v for v in score.verdicts if low <= v.confidence < high]
        lines.append(_row(f"{low:.2f} to {min(high, 1):.2f}", band))
    lines += ["", "| reason | edges | right |", "|---|---|---|"]
    reasons = Counter(v.reason for v in score.verdicts if v.outcome in ("right", "wrong"))
    for reason, _ in reasons.most_common():
        lines.append(_row(reason, [v for v in score.verdicts if v.reason == reason]))
    for outcome in ("wrong", "missed"):
        some = [v for v in score.verdicts if v.outcome == outcome]
        lines += ["", f"{outcome}: {len(some)}"]
        shown = some[:: max(1, len(some) // max(show, 1))][:show]
        lines += [f"  {v.path}:{v.line} {v.text} | {v.ours} | {v.theirs} | {v.reason} "
                  f"{v.confidence}" for v in shown]  # fmt: skip
    return lines


def _row(name: str, verdicts: list[Verdict]) -> str:
    right = sum(v.outcome == "right" for v in verdicts)
    edges = right + sum(v.outcome == "wrong" for v in verdicts)
    return f"| {name} | {edges} | {_share(right, edges)} |"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f} %" if whole else "-"
