"""What holds for the facts of any file at all."""

from __future__ import annotations

import pickle
import subprocess
import sys

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.index.facts import model as facts_module
from holdfast.index.facts.chunks import CHUNK_BYTES_MAX, LINE_BYTES_MAX
from holdfast.index.facts.extract import extract
from holdfast.index.facts.model import (
    FACTS_VERSION,
    MODULE,
    FileFacts,
    decode,
    decode_outline,
    encode,
    symbol_id,
)
from tests.index.samples import sources
from tests.scale import examples, size

SOURCES = sources()
SUFFIXES = sorted(SOURCES)
JUNK = st.sampled_from(
    [
        b"",
        b"\0",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\r\n",
        b"(",
        b"{",
        b'"',
        b"'''",
        b"/*",
        b"<<",
        b"\\",
    ]
)


def hold(path: str, source: bytes, *, twice: bool = True) -> FileFacts:
    """Everything that is promised of any file, checked the slow and simple way."""
    found = extract(path, source)
    assert not twice or extract(path, source) == found, "facts are deterministic"
    assert pickle.loads(pickle.dumps(found)) == found
    assert decode(encode(found)) == found
    shown = replace(found, imports=(), calls=(), bindings=(), inherits=(), chunks=())
    assert decode_outline(encode(found)) == shown
    assert not [p for p in found.problems if "not understood" in p.detail], found.problems
    if found.language == "binary":
        return found
    # The chunks are the file, in order, each byte once.
    assert b"".join(source[c.span.start : c.span.end] for c in found.chunks) == source
    at = 0
    for chunk in found.chunks:
        assert chunk.span.start == at
        assert chunk.span.end > at
        at = chunk.span.end
        assert source.count(b"\n", 0, chunk.span.start) + 1 == chunk.span.first_line
        assert source.count(b"\n", 0, chunk.span.end - 1) + 1 == chunk.span.last_line
        assert 0 <= chunk.part < chunk.parts
        starts_line = (
            chunk.span.start == 0 or source[chunk.span.start - 1 : chunk.span.start] == b"\n"
        )
        ends_line = at == len(source) or source[at - 1 : at] == b"\n"
        assert chunk.broken_line or (starts_line and ends_line)
        if chunk.owner != MODULE:
            owner = found.symbols[chunk.owner].span
            assert owner.first_line <= chunk.span.last_line
        if chunk.span.first_line != chunk.span.last_line:
            assert at - chunk.span.start <= max(CHUNK_BYTES_MAX, LINE_BYTES_MAX) + 400
    lines = source.count(b"\n") + (not source.endswith(b"\n")) if source else 1
    assert found.lines == max(lines, 0) or not source
    ids = [symbol.id for symbol in found.symbols]
    assert len(set(ids)) == len(ids), "an id names one symbol"
    for index, symbol in enumerate(found.symbols):
        assert symbol.id == symbol_id(path, symbol.qualified, symbol.kind, symbol.ordinal)
        assert 1 <= symbol.span.first_line <= symbol.span.last_line <= found.lines
        assert 0 <= symbol.span.start <= symbol.span.end <= len(source)
        assert MODULE <= symbol.parent < len(found.symbols)
        assert symbol.parent != index
    for call in found.calls:
        assert MODULE <= call.caller < len(found.symbols)
        assert 1 <= call.line <= found.lines
    for binding in found.bindings:
        assert MODULE <= binding.scope < len(found.symbols)
    return found


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.shows("FACT-CHUNKS", "FACT-PURE", "FACT-IDS")
def test_every_source_of_every_case_keeps_the_promises(suffix: str) -> None:
    for source in SOURCES[suffix]:
        hold(f"dir/file.{suffix}", source.encode())


@pytest.mark.shows("FACT-NEVER-FAILS")
@given(suffix=st.sampled_from(SUFFIXES), source=st.binary(max_size=400))
def test_any_bytes_have_facts(suffix: str, source: bytes) -> None:
    hold(f"file.{suffix}", source)


@st.composite
def broken(draw: st.DrawFn) -> tuple[str, bytes]:
    suffix = draw(st.sampled_from(SUFFIXES))
    source = draw(st.sampled_from(SOURCES[suffix])).encode()
    for _ in range(draw(st.integers(1, 4))):
        first = draw(st.integers(0, len(source)))
        last = draw(st.integers(first, min(len(source), first + 40)))
        other = draw(st.sampled_from(SOURCES[suffix])).encode()
        cut = draw(st.integers(0, len(other)))
        middle = draw(st.one_of(JUNK, st.just(other[cut : cut + 60])))
        source = source[:first] + middle + source[last:]
    return suffix, source


def test_a_chunk_of_a_symbol_has_a_line_of_it() -> None:
    """Of two symbols on a line, the first one had a chunk with only the comment above it."""
    source = b"struct A;\n    // about it\nfn go() { run(); }trait Shop {\n    type Cart;\n}\n"
    found = hold("a.rs", source)
    owned = [(c.span.first_line, found.symbols[c.owner].name) for c in found.chunks[:-1]]
    assert owned == [(1, "A"), (2, "Shop")]


@pytest.mark.shows("FACT-NEVER-FAILS")
@settings(max_examples=examples(400))
@given(broken())
def test_a_broken_source_has_facts(case: tuple[str, bytes]) -> None:
    suffix, source = case
    hold(f"file.{suffix}", source)


HARD = {
    "brackets that never close": b"(" * 10_000,
    "deep brackets": b"(" * 10_000 + b")" * 10_000,
    "deep calls": b"f(" * 10_000 + b")" * 10_000,
    "deep blocks": b"{" * 10_000 + b"}" * 10_000,
    "deep functions": b"function f(){" * 3_000 + b"}" * 3_000,
    "deep classes": b"class A {" * 3_000 + b"}" * 3_000,
    "deep conditions": b"if (a) {\n" * 3_000 + b"}\n" * 3_000,
    "a long chain": b"a" + b".b()" * 10_000,
    "a minified bundle": b"function a(b){return b.c(d)}var e=new F;" * 600,
    "comments that never close": b"/* " * 10_000,
    "quotes that never close": b'"\n' * 3_000,
    "words": b"a b " * 3_000,
    "less and less": b"a<" * 3_000,
    "only newlines": b"\n" * 10_000,
    "carriage returns": b"def f():\r\n    g()\r\n" * 200,
    "lone carriage returns": b"def f():\r    g()\r" * 200,
    "a mark at the start": b"\xef\xbb\xbfdef f(): pass\nclass A { }\n",
    "wide text": "\ufeff# héllo\n".encode() + "日本語 = 'ß'\n".encode() * 200,
    "not UTF-8": b"# \xff\xfe caf\xe9\nx = 1\n",
    "NUL past the start": b"a = 1\n" * 2_000 + b"\0" + b"b = 2\n",
    "one long line of text": ("é" * 30_000).encode(),
    "indentation": b"".join(b" " * n + b"if a:\n" for n in range(300)),
}


EVERY = size(1, 16)
"""In `make quick` the languages take turns."""


@pytest.mark.parametrize("name", HARD)
@pytest.mark.shows("FACT-NEVER-FAILS", "FACT-BOUNDED")
def test_hostile_files_have_facts_in_every_language(name: str) -> None:
    for suffix in SUFFIXES[list(HARD).index(name) % EVERY :: EVERY]:
        hold(f"file.{suffix}", HARD[name], twice=False)


@pytest.mark.shows("FACT-BOUNDED")
def test_a_parse_that_runs_away_is_given_up_and_said_so() -> None:
    """Unclosed comments once kept the C grammar busy for minutes."""
    found = extract("a.c", b"/* " * 40_000)
    assert [p.code for p in found.problems] == ["too_hard"]
    assert found.symbols == ()
    assert found.chunks


@pytest.mark.shows("FACT-PROBLEMS")
def test_what_could_not_be_seen_is_said() -> None:
    assert [p.code for p in extract("a.py", b"def f(:\n  pass\n").problems] == ["syntax"]
    assert [p.code for p in extract("a.py", b"x = '\xff'\n").problems] == ["encoding"]
    assert [p.code for p in extract("a.py", b"\0\1\2").problems] == ["binary"]
    large = extract("a.py", b"x = 1\n" * 700_000)
    assert [p.code for p in large.problems] == ["too_large"]
    assert large.chunks[-1].span.end == 4_200_000


@pytest.mark.shows("FACT-PROBLEMS")
def test_a_syntax_error_leaves_the_rest_of_the_file() -> None:
    found = extract("a.py", b"def good(): pass\n\nx = = 3\n\ndef also(): good()\n")
    assert {s.name for s in found.symbols} >= {"good", "also"}
    assert [p.code for p in found.problems] == ["syntax"]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.shows("FACT-IDS")
def test_ids_survive_a_shift_of_lines(suffix: str) -> None:
    """Blank lines above move every span and no id."""
    for source in SOURCES[suffix]:
        if suffix == "php":
            before, after = source, source.replace("<?php", "<?php" + "\n" * 7, 1)
            shift = 7
        elif suffix == "md":
            before, after, shift = source, source.replace("# One", "\n" * 7 + "# One", 1), 7
        else:
            before, after, shift = source, "\n" * 7 + source, 7
        old, new = extract(f"f.{suffix}", before.encode()), extract(f"f.{suffix}", after.encode())
        assert [s.id for s in old.symbols] == [s.id for s in new.symbols]
        assert [s.span.first_line + shift for s in old.symbols] == [
            s.span.first_line for s in new.symbols
        ]


@pytest.mark.shows("FACT-IDS")
def test_namesakes_are_told_apart_by_their_order() -> None:
    found = extract("A.java", b"class A { void f(int a) {} void f(String a) {} }")
    assert [(s.qualified, s.ordinal) for s in found.symbols] == [("A", 0), ("A.f", 0), ("A.f", 1)]
    assert len({s.id for s in found.symbols}) == 3


@pytest.mark.shows("FACT-IDS")
def test_an_id_is_this_and_stays_this() -> None:
    """Ids are kept in indexes; a new recipe needs a new FACTS_VERSION."""
    assert FACTS_VERSION == 17
    assert symbol_id("a.py", "A.f", "method", 0) == "sym_761c267704d9ebed3abd"


@pytest.mark.shows("FACT-FORMAT")
def test_the_format_does_not_change_without_a_new_version() -> None:
    shapes = {
        name: [field.name for field in msgspec.structs.fields(getattr(facts_module, name))]
        for name in (
            "Span",
            "Symbol",
            "Import",
            "Call",
            "Binding",
            "Inheritance",
            "Chunk",
            "Problem",
            "FileFacts",
        )
    }
    assert FACTS_VERSION == 17
    assert shapes == {
        "Span": ["first_line", "last_line", "start", "end"],
        "Symbol": [
            "id",
            "name",
            "qualified",
            "kind",
            "parent",
            "ordinal",
            "span",
            "signature",
            "doc",
            "exported",
            "defined",
        ],
        "Import": ["module", "name", "alias", "line", "scope", "reexport"],
        "Call": ["caller", "name", "receiver", "kind", "line", "start", "arity", "passed"],
        "Binding": ["scope", "name", "field", "line", "type", "value", "inside", "last"],
        "Inheritance": ["child", "base", "kind", "line"],
        "Chunk": ["owner", "span", "part", "parts", "broken_line"],
        "Problem": ["code", "line", "detail"],
        "FileFacts": [
            "path",
            "language",
            "module",
            "lines",
            "size",
            "symbols",
            "imports",
            "calls",
            "bindings",
            "inherits",
            "chunks",
            "problems",
            "version",
            "guessed",
        ],
    }


@pytest.mark.shows("FACT-LAZY")
def test_importing_the_facts_loads_no_parser() -> None:
    code = (
        "import sys, holdfast.index.facts.extract\n"
        "import holdfast.index.calls.resolve\n"
        "assert not [m for m in sys.modules if m.startswith('tree_sitter')]\n"
        "holdfast.index.facts.extract.extract('a.md', b'# A')\n"
        "assert not [m for m in sys.modules if m.startswith('tree_sitter')]\n"
        "holdfast.index.facts.extract.extract('a.py', b'x')\n"
        "print(sorted(m for m in sys.modules if m.startswith('tree_sitter_')))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "tree_sitter_python" in done.stdout
    assert "tree_sitter_go" not in done.stdout
