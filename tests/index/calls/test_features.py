"""Features of Python and JavaScript, two small programs each, and how many calls are found.

Every call that reaches a function of the program is claimed, by what happens when the program runs,
also where that is beyond the resolver. The shares are the promise, not each claim.
"""

from __future__ import annotations

import pytest

from holdfast.index.calls.linked_program import LinkedProgram
from holdfast.index.calls.resolve import Resolver
from holdfast.index.facts.extract import extract
from tests.index.calls.feature_programs import JAVASCRIPT, PYTHON
from tests.index.calls.more_javascript_features import PROGRAMS as MORE_JAVASCRIPT
from tests.index.calls.more_python_features import PROGRAMS as MORE_PYTHON
from tests.index.calls.python_micro_programs import PROGRAMS as PYTHON_MICRO
from tests.index.calls.recorded.javascript_by_feature import PROGRAMS as JAVASCRIPT_BY_FEATURE
from tests.index.calls.recorded.javascript_everyday import PROGRAMS as JAVASCRIPT_EVERYDAY
from tests.index.calls.recorded.javascript_last import PROGRAMS as JAVASCRIPT_LAST
from tests.index.calls.recorded.javascript_later import PROGRAMS as JAVASCRIPT_LATER
from tests.index.calls.recorded.javascript_latest import PROGRAMS as JAVASCRIPT_LATEST
from tests.index.calls.recorded.javascript_mixed import PROGRAMS as JAVASCRIPT_MIXED
from tests.index.calls.recorded.javascript_more_snippets import (
    PROGRAMS as JAVASCRIPT_MORE_SNIPPETS,
)
from tests.index.calls.recorded.javascript_newest import PROGRAMS as JAVASCRIPT_NEWEST
from tests.index.calls.recorded.javascript_snippets import PROGRAMS as JAVASCRIPT_SNIPPETS
from tests.index.calls.recorded.javascript_unseen import PROGRAMS as JAVASCRIPT_UNSEEN
from tests.index.calls.recorded.python_by_feature import PROGRAMS as PYTHON_BY_FEATURE
from tests.index.calls.recorded.python_everyday import PROGRAMS as PYTHON_EVERYDAY
from tests.index.calls.recorded.python_last import PROGRAMS as PYTHON_LAST
from tests.index.calls.recorded.python_latest import PROGRAMS as PYTHON_LATEST
from tests.index.calls.recorded.python_mixed import PROGRAMS as PYTHON_MIXED
from tests.index.calls.recorded.python_newest import PROGRAMS as PYTHON_NEWEST
from tests.index.calls.recorded.python_snippets import PROGRAMS as PYTHON_SNIPPETS
from tests.index.calls.recorded.python_unseen import PROGRAMS as PYTHON_UNSEEN
from tests.index.calls.recorded_javascript import PROGRAMS as RECORDED_JAVASCRIPT
from tests.index.calls.recorded_more_javascript import PROGRAMS as RECORDED_MORE_JAVASCRIPT
from tests.index.calls.recorded_more_python import PROGRAMS as RECORDED_MORE_PYTHON
from tests.index.calls.recorded_python import PROGRAMS as RECORDED_PYTHON
from tests.index.calls.replaced_programs import JAVASCRIPT as REPLACED_JAVASCRIPT
from tests.index.calls.replaced_programs import PYTHON as REPLACED_PYTHON
from tests.index.claims import resolved, split


def counted(programs: dict[str, str], least: float = 0.0) -> tuple[int, int, int, list[str]]:
    """Claims, found claims, all edges of some confidence, and what is wrong or missing."""
    claims = found = edges = 0
    notes: list[str] = []
    for name, text in programs.items():
        files = split(text)
        facts = [extract(f.path, ("\n".join(f.lines) + "\n").encode()) for f in files]
        resolver = Resolver(facts)
        labels = {s.id: one.label(i) for one in facts for i, s in enumerate(one.symbols)}
        for file in files:
            wanted = {(line, rest) for line, verb, rest in file.claims if verb == "calls"}
            assert len(wanted) == len(file.claims)
            found_here = [e for e in resolved(resolver, file.path)[0] if e.confidence >= least]
            seen = {(e.line, labels[e.callee]) for e in found_here}
            claims, found, edges = (
                claims + len(wanted),
                found + len(wanted & seen),
                edges + len(seen),
            )
            notes += [f"{name}: missing {each}" for each in sorted(wanted - seen)]
            notes += [f"{name}: wrong {each}" for each in sorted(seen - wanted)]
    return claims, found, edges, notes


@pytest.mark.parametrize("programs", [PYTHON, JAVASCRIPT], ids=["python", "javascript"])
@pytest.mark.shows("CALLS-FEATURES")
def test_calls_of_features(programs: dict[str, str]) -> None:
    assert len(programs) == 18
    claims, found, edges, notes = counted(programs)
    assert found / claims >= 0.85, notes
    assert found / edges >= 0.98, notes


@pytest.mark.parametrize("programs", [MORE_PYTHON, MORE_JAVASCRIPT], ids=["python", "javascript"])
@pytest.mark.shows("CALLS-FEATURES")
def test_every_call_of_more_features_is_found_and_none_is_made_up(programs: dict[str, str]) -> None:
    claims, found, edges, notes = counted(programs)
    assert (claims, found) == (edges, edges), notes


@pytest.mark.shows("CALLS-FEATURES")
def test_every_call_of_programs_for_one_feature_each_is_found_and_none_is_made_up() -> None:
    """Of 260 edges in 75 programs 251 were found before, and 7 were made up."""
    assert len(PYTHON_MICRO) >= 60
    claims, found, edges, notes = counted(PYTHON_MICRO)
    assert (claims, found) == (edges, edges), notes


@pytest.mark.parametrize(
    "programs", [RECORDED_PYTHON, RECORDED_JAVASCRIPT], ids=["python", "javascript"]
)
@pytest.mark.shows("CALLS-FEATURES")
def test_calls_of_programs_that_were_recorded_while_they_ran(programs: dict[str, str]) -> None:
    """What is missed is decided at run time: the class of `self`, and what a library calls."""
    assert len(programs) >= 50
    claims, found, edges, notes = counted(programs)
    assert found / claims >= 0.95, notes
    assert found / edges >= 0.97, notes


NOT_LINKED = {
    "math.default(1, 2);",
    'new late.default().tokens("p q");',
    "new Kind().run(text);",
    "new Made().total();",
    "new all.default();",
    "return method(node)",
    "return new this(",
    "outer().next().value();",
    "this.hooks.before?.(this);",
    "math.default(math.sub, 1, 1);",
    "const one = new this();",
    "new Loud().hello();",
    "matrix.flat().forEach",
    "return cls(*args)",
    'extra["on_hover"]()',
}
"""The caller has no name of what it calls: `import()`, `default`, a name by its beginning."""
SURE = 0.9
"""What is decided at run time, as one of several values, has less."""


@pytest.mark.parametrize(
    "programs",
    [RECORDED_PYTHON | RECORDED_MORE_PYTHON, RECORDED_JAVASCRIPT | RECORDED_MORE_JAVASCRIPT],
    ids=["python", "javascript"],
)
@pytest.mark.shows("CALLS-FEATURES", "CALLS-CALIBRATED")
def test_sure_edges_of_recorded_programs_are_right(programs: dict[str, str]) -> None:
    """Of the newer programs 86 and 88 % were found first, and 6 and 7 % of the edges were wrong."""
    claims, found, edges, notes = counted(programs)
    assert found / claims >= 0.97, notes
    assert found / edges >= 0.96, notes
    claims, found, edges, notes = counted(programs, SURE)
    assert found / claims >= 0.87, notes
    assert found / edges >= 0.985, notes


@pytest.mark.parametrize(
    ("programs", "found_at_least", "sure_at_least"),
    [(PYTHON_BY_FEATURE, 0.94, 0.9), (JAVASCRIPT_BY_FEATURE, 0.89, 0.81)],
    ids=["python", "javascript"],
)
@pytest.mark.shows("CALLS-FEATURES", "CALLS-CALIBRATED")
def test_calls_of_the_newest_programs(
    programs: dict[str, str], found_at_least: float, sure_at_least: float
) -> None:
    """Asked first: 93 and 84 % found; of the edges of at least 0.9, 97 % were right in both."""
    assert len(programs) == 18
    claims, found, edges, notes = counted(programs)
    assert found / claims >= found_at_least, notes
    assert found / edges >= 0.95, notes
    claims, found, edges, notes = counted(programs, SURE)
    assert found / claims >= sure_at_least, notes
    assert found / edges >= 0.98, notes


@pytest.mark.parametrize(
    ("programs", "found_at_least", "sure_at_least"),
    [(PYTHON_EVERYDAY, 0.91, 0.84), (JAVASCRIPT_EVERYDAY, 0.9, 0.81)],
    ids=["python", "javascript"],
)
@pytest.mark.shows("CALLS-FEATURES", "CALLS-CALIBRATED")
def test_calls_of_everyday_programs(
    programs: dict[str, str], found_at_least: float, sure_at_least: float
) -> None:
    """Asked first: 90 and 87 % found; of the edges of at least 0.9, 98 % were right in both."""
    assert len(programs) == 30
    claims, found, edges, notes = counted(programs)
    assert found / claims >= found_at_least, notes
    assert found / edges >= 0.945, notes
    claims, found, edges, notes = counted(programs, SURE)
    assert found / claims >= sure_at_least, notes
    assert found / edges >= 0.99, notes


@pytest.mark.parametrize(
    "programs", [PYTHON_UNSEEN, JAVASCRIPT_UNSEEN], ids=["python", "javascript"]
)
@pytest.mark.shows("CALLS-FEATURES", "CALLS-CALIBRATED")
def test_calls_of_programs_that_nothing_was_changed_for(programs: dict[str, str]) -> None:
    """Asked first: 96 and 94 % found; edges of at least 0.9 are 90 and 86 %, 98 and 99 % right."""
    assert len(programs) == 15
    claims, found, edges, notes = counted(programs)
    assert found / claims >= 0.93, notes
    assert found / edges >= 0.93, notes
    claims, found, edges, notes = counted(programs, SURE)
    assert found / claims >= 0.85, notes
    assert found / edges >= 0.98, notes


@pytest.mark.parametrize(
    ("programs", "least", "sure_least"),
    [
        (PYTHON_NEWEST, (0.955, 0.925), (0.85, 0.99)),
        (JAVASCRIPT_NEWEST, (0.925, 0.905), (0.83, 0.98)),
    ],
    ids=["python", "javascript"],
)
@pytest.mark.shows("CALLS-FEATURES", "CALLS-CALIBRATED")
def test_calls_of_the_last_programs(
    programs: dict[str, str], least: tuple[float, float], sure_least: tuple[float, float]
) -> None:
    """Asked first, by edges of at least 0.9: 85 % found at 98 % right, and 84 % at 95 %."""
    assert len(programs) == 15
    for share, confidence in ((least, 0.0), (sure_least, SURE)):
        claims, found, edges, notes = counted(programs, confidence)
        assert found / claims >= share[0], notes
        assert found / edges >= share[1], notes


@pytest.mark.parametrize(
    ("programs", "least", "sure_least"),
    [
        (PYTHON_LATEST, (0.945, 0.94), (0.885, 0.98)),
        (JAVASCRIPT_LATEST, (0.94, 0.935), (0.885, 0.98)),
    ],
    ids=["python", "javascript"],
)
@pytest.mark.shows("CALLS-FEATURES", "CALLS-CALIBRATED")
def test_calls_of_the_latest_programs(
    programs: dict[str, str], least: tuple[float, float], sure_least: tuple[float, float]
) -> None:
    """Asked first, by edges of at least 0.9: 83 % found at 97 % right, and 86 % at 97 %."""
    assert len(programs) == 10
    for share, confidence in ((least, 0.0), (sure_least, SURE)):
        claims, found, edges, notes = counted(programs, confidence)
        assert found / claims >= share[0], notes
        assert found / edges >= share[1], notes


@pytest.mark.parametrize(
    ("programs", "least", "sure_least"),
    [
        (PYTHON_LAST, (0.89, 0.96), (0.84, 0.98)),
        (JAVASCRIPT_LAST, (0.96, 0.945), (0.875, 0.98)),
    ],
    ids=["python", "javascript"],
)
@pytest.mark.shows("CALLS-FEATURES", "CALLS-CALIBRATED")
def test_calls_of_programs_written_after_all_others(
    programs: dict[str, str], least: tuple[float, float], sure_least: tuple[float, float]
) -> None:
    """Asked first, by edges of at least 0.9: 84 % found at 98 % right, and 92 % at 97 %."""
    assert len(programs) == 5
    for share, confidence in ((least, 0.0), (sure_least, SURE)):
        claims, found, edges, notes = counted(programs, confidence)
        assert found / claims >= share[0], notes
        assert found / edges >= share[1], notes


@pytest.mark.parametrize(
    ("programs", "least", "sure_least"),
    [
        (PYTHON_MIXED, (0.95, 0.985), (0.9, 0.99)),
        (JAVASCRIPT_MIXED, (0.935, 0.93), (0.85, 0.99)),
    ],
    ids=["python", "javascript"],
)
@pytest.mark.shows("CALLS-FEATURES", "CALLS-CALIBRATED")
def test_calls_of_programs_for_each_feature_and_for_mixes(
    programs: dict[str, str], least: tuple[float, float], sure_least: tuple[float, float]
) -> None:
    """Asked first, by edges of at least 0.9: 91 % found at 99 % right, and 82 % at 99 %."""
    assert len(programs) == 12
    for share, confidence in ((least, 0.0), (sure_least, SURE)):
        claims, found, edges, notes = counted(programs, confidence)
        assert found / claims >= share[0], notes
        assert found / edges >= share[1], notes


@pytest.mark.parametrize(
    ("programs", "least", "sure_least"),
    [
        (JAVASCRIPT_SNIPPETS | JAVASCRIPT_MORE_SNIPPETS, (0.94, 0.93), (0.885, 0.99)),
        (JAVASCRIPT_LATER, (0.935, 0.94), (0.885, 0.99)),
        (PYTHON_SNIPPETS, (0.96, 0.95), (0.89, 0.99)),
    ],
    ids=["javascript", "later", "python"],
)
@pytest.mark.shows("CALLS-FEATURES", "CALLS-CALIBRATED")
def test_calls_of_snippets_for_one_feature_each(
    programs: dict[str, str], least: tuple[float, float], sure_least: tuple[float, float]
) -> None:
    """Asked first, by edges of at least 0.9: 84, 82 and 90 % found at 96, 99 and 99.6 %."""
    assert len(programs) in (26, 8, 10)
    for share, confidence in ((least, 0.0), (sure_least, SURE)):
        claims, found, edges, notes = counted(programs, confidence)
        assert found / claims >= share[0], notes
        assert found / edges >= share[1], notes


@pytest.mark.parametrize(
    "programs", [REPLACED_PYTHON, REPLACED_JAVASCRIPT], ids=["python", "javascript"]
)
@pytest.mark.shows("CALLS-CALIBRATED")
def test_what_is_replaced_moved_or_decided_late_is_not_certain(programs: dict[str, str]) -> None:
    """Of the edges of at least 0.9 there, 18 of 60 in Python and 33 of 122 were wrong."""
    assert len(programs) >= 35
    wrong = [note for note in counted(programs, SURE)[3] if ": wrong" in note]
    assert not wrong


@pytest.mark.parametrize(
    "programs",
    [
        PYTHON,
        JAVASCRIPT,
        MORE_PYTHON,
        MORE_JAVASCRIPT,
        PYTHON_MICRO,
        RECORDED_PYTHON,
        RECORDED_JAVASCRIPT,
        RECORDED_MORE_PYTHON,
        RECORDED_MORE_JAVASCRIPT,
        PYTHON_BY_FEATURE,
        JAVASCRIPT_BY_FEATURE,
        PYTHON_EVERYDAY,
        JAVASCRIPT_EVERYDAY,
        PYTHON_UNSEEN,
        JAVASCRIPT_UNSEEN,
        PYTHON_NEWEST,
        JAVASCRIPT_NEWEST,
        PYTHON_LATEST,
        JAVASCRIPT_LATEST,
        REPLACED_PYTHON,
        REPLACED_JAVASCRIPT,
        PYTHON_LAST,
        JAVASCRIPT_LAST,
        PYTHON_MIXED,
        JAVASCRIPT_MIXED,
        JAVASCRIPT_SNIPPETS,
        JAVASCRIPT_MORE_SNIPPETS,
        JAVASCRIPT_LATER,
        PYTHON_SNIPPETS,
    ],
    ids=[
        "p",
        "j",
        "mp",
        "mj",
        "micro",
        "rp",
        "rj",
        "rmp",
        "rmj",
        "pf",
        "jf",
        "pe",
        "je",
        "pu",
        "ju",
        "pn",
        "jn",
        "pl",
        "jl",
        "rep",
        "rej",
        "plast",
        "jlast",
        "pmixed",
        "jmixed",
        "jsnippets",
        "jmore",
        "jlater",
        "psnippets",
    ],
)
def test_a_call_is_among_the_callers_of_what_it_reaches(programs: dict[str, str]) -> None:
    missing = []
    for name, text in programs.items():
        files = split(text)
        facts = [extract(f.path, ("\n".join(f.lines) + "\n").encode()) for f in files]
        resolver, linked = Resolver(facts), LinkedProgram(Resolver(facts))
        for file in files:
            edges = resolved(resolver, file.path)[0]
            found = [e for e in edges if e not in linked.incoming(e.callee)]
            missing += [
                f"{name}: {e}"
                for e in found
                if not any(text in file.lines[e.line - 1] for text in NOT_LINKED)
            ]
    assert not missing
