"""A program that reads only the files it needs answers as one with all of them in memory."""

from __future__ import annotations

import random

import pytest

from holdfast.index.calls import stored_program
from holdfast.index.calls.file_terms import packed_terms, unpacked_terms
from holdfast.index.calls.link_segment import LinkSegment, LinkSegmentBuilder, pair_hash
from holdfast.index.calls.link_terms import code_of, key_from, key_of
from holdfast.index.calls.linked_program import LinkedProgram
from holdfast.index.calls.resolve import Resolver
from holdfast.index.calls.stored_program import StoredLinks, StoredProgram
from holdfast.index.facts.extract import extract
from holdfast.index.facts.model import FileFacts
from tests.index.calls.feature_programs import JAVASCRIPT, PYTHON
from tests.index.calls.test_callers import WAYS
from tests.index.calls.twins import graph, tables
from tests.index.claims import split
from tests.index.samples import all_cases
from tests.scale import seeds

SHOP = {"shop.py": "def total(*x):\n    pass\nclass Cart:\n    def __init__(self): pass\n"}
MANIFESTS = {"go.mod": "module example.org/shop\n", "package.json": '{"name": "shop"}\n'}


def _sources(rng: random.Random) -> dict[str, str]:
    """Cases of several languages side by side, so that they have names in common."""
    cases = [[(f.path, "\n".join(f.lines) + "\n") for f in split(c)] for c in all_cases()]
    cases += [[(f.path, "\n".join(f.lines) + "\n") for f in split(c)]
              for c in (*PYTHON.values(), *JAVASCRIPT.values())]  # fmt: skip
    cases += [[*SHOP.items(), ("use.py", text)] for text in WAYS.values()]
    found: dict[str, str] = {}
    for case in rng.sample(cases, 12):
        folder = rng.choice(("", "src/", "lib/shop/", "deep/er/src/"))
        found |= {folder + path: text for path, text in case}
    if rng.random() < 0.5:
        found |= MANIFESTS
    return found


def _segment(files: list[FileFacts]) -> LinkSegment:
    builder = LinkSegmentBuilder()
    for number, facts in enumerate(files):
        terms = unpacked_terms(packed_terms(facts))
        assert terms is not None
        builder.add(number, terms)
    return LinkSegment(builder.take())


def _stored(
    current: dict[str, FileFacts], before: dict[str, FileFacts], cuts: int
) -> LinkedProgram:
    """A program over segments that also have what some files were before."""
    groups = [list(before.values())] if before else []
    left = [current[path] for path in sorted(current)]
    for _ in range(cuts):
        groups.append(left[: len(left) // 2])
        left = left[len(left) // 2 :]
    groups.append(left)
    where = {facts.path: number for number, group in enumerate(groups) for facts in group}
    slots = [
        [f.path if current.get(f.path) is f and where[f.path] == number else None for f in group]
        for number, group in enumerate(groups)
    ]
    links = StoredLinks([_segment(group) for group in groups], slots)
    program = StoredProgram(current, links, lambda path: (current[path], 1_000))
    return LinkedProgram(Resolver(program=program), table=links)


def _compared(stored: LinkedProgram, current: dict[str, FileFacts]) -> None:
    files = [current[path] for path in sorted(current)]
    memory = LinkedProgram(Resolver(files))
    assert tables(stored.resolver.program, files) == tables(memory.resolver.program, files)
    assert graph(stored, files) == graph(memory, files)


@pytest.mark.shows("FACT-STORED-CALLS")
@pytest.mark.parametrize("seed", seeds(12))
def test_a_stored_program_answers_as_one_in_memory(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So few that files are read again and again.
    monkeypatch.setattr(stored_program, "KEPT_BYTES", 5_000)
    rng = random.Random(seed)
    old = {path: extract(path, text.encode()) for path, text in _sources(rng).items()}
    new = {path: extract(path, text.encode()) for path, text in _sources(rng).items()}
    kept = {path: facts for path, facts in old.items() if rng.random() < 0.7}
    current = new | kept
    stored = _stored(current, old, cuts=seed % 3)
    _compared(stored, current)
    for path in rng.sample(sorted(old.keys() | new.keys()), 6):
        if path in current and rng.random() < 0.5:
            del current[path]
            stored.remove(path)
        else:
            chosen = rng.choice([each[path] for each in (old, new) if path in each])
            current[path] = chosen
            stored.replace(chosen)
    _compared(stored, current)


def test_a_key_is_the_same_after_being_a_number() -> None:
    names = ["a", "total", "abcdefgh", "abcdefghi", "total()", "abcdefgh()", "abcdefghij()()",
             "^apply", "<Cart", "<abcdefghi()", "^", "()", "()()()()", "naïve", "@a/b.py:3:x",
             "default*", "a b", "^<^abcdefgh"]  # fmt: skip
    for name in names:
        code = code_of(key_of(name))
        assert code is not None
        assert 0 <= code < 1 << 64
        assert key_from(code) == key_of(name)


def test_what_holds_a_name_keeps_what_is_behind_it() -> None:
    for name in ("x", "abcdefgh", "abcdefghi", "^abcdefgh", "<abcdefghi"):
        assert key_of(name + "()") == key_of(name) + "()"


def test_a_segment_has_every_term_of_many_files() -> None:
    files = [extract(f"f{n}.py", f"def f{n}():\n    g{n % 7}()\n".encode()) for n in range(300)]
    found = _segment(files)
    assert len(found.checks) == len(files)
    for slot, facts in enumerate(files):
        terms = unpacked_terms(packed_terms(facts))
        assert terms is not None
        for at in range(0, len(terms.terms), 8):
            assert slot in found.slots(int.from_bytes(terms.terms[at : at + 8], "little"))


def test_a_segment_without_files_has_nothing() -> None:
    found = LinkSegment(LinkSegmentBuilder().take())
    assert found.slots(pair_hash(1, 2)) == []
    assert list(found.pairs(1, 2)) == []
    assert found.modules() == []


@pytest.mark.parametrize("data", [b"", b"HFLK", b"no segment of ours" * 9])
def test_anything_else_is_not_a_segment(data: bytes) -> None:
    with pytest.raises(ValueError, match="not a segment"):
        LinkSegment(data)


def test_a_segment_of_another_version_is_not_read() -> None:
    data = bytearray(LinkSegmentBuilder().take())
    data[4] += 1
    with pytest.raises(ValueError, match="version"):
        LinkSegment(bytes(data))
    assert unpacked_terms(b"\x95\x63\x00\xc4\x00\xc4\x00\xa0") is None
