"""The exact lane against grep: every line of every file, one by one, with the standard library."""

from __future__ import annotations

import itertools
import re
import sys
import threading
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from holdfast.index.facts.naming import names_symbol
from holdfast.index.generations.model import ChunkId
from holdfast.index.search import exact, trigrams
from holdfast.index.search.exact import Bounds, ExactFound, find_exact
from holdfast.index.search.operators import Query, parse
from holdfast.index.search.regex import (
    PATTERN_CHARACTERS_MAX,
    AllOf,
    AnyOf,
    Literal,
    TooSlow,
    matcher,
    needs,
    wrong_pattern,
)
from tests.index.memory import MemoryReader

Lines = set[tuple[str, int, int, int]]


def grep(root: Path, pattern: str) -> Lines:
    """Where each line of each file first matches, by looking at all of them."""
    found = set()
    for file in root.rglob("*"):
        if file.is_file():
            lines = file.read_bytes().decode("utf-8", "replace").split("\n")
            if lines[-1] == "":
                lines.pop()
            for number, line in enumerate(lines, 1):
                match = re.search(pattern, line.removesuffix("\r"), re.MULTILINE)
                if match:
                    found.add((file.relative_to(root).as_posix(), number, *match.span()))
    return found


def lines_of(found: ExactFound) -> Lines:
    return {
        (hit.chunk.path, line.line, line.start, line.end)
        for hit in found.hits
        for line in hit.lines
    }


def everything(path: str) -> bool:
    return True


def look(reader: MemoryReader, query: Query, **bounds: Any) -> ExactFound:
    asked: Any = reader
    return find_exact(query, reader.root, asked, reader.overlay(), everything, Bounds(**bounds))


TREE = {
    "cart.py": (
        "import prices\n\n\nclass Cart:\n    '''Holds Items.'''\n\n"
        "    def total_price(self):\n        return sum(prices.of(i) for i in self.items)\n\n\n"
        "def pay(cart):\n    # TODO: refunds\n    return cart.total_price()\n"
    ),
    "rule.txt": "----\n====\n\n    ***\n",
    "hashes.txt": "sum\n\n" + "0123456789abcdef" * 8 + "\n\nend of file",
    "crlf.go": "package shop\r\n\r\nfunc Total() int {\r\n\treturn 1\r\n}\r\n",
    "wide.js": "var a = '"
    + "x" * 7_990
    + "needle in pieces"
    + "y" * 999
    + "';\n"
    + "var b = 2;\n" * 90,
    "straße.py": "def größe():\n    return '\u017ftraße ∑ K'\n",
    "latin.c": b"/* caf\xe9 */\nint total;\n".decode("latin-1"),
    "empty.py": "",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    for name, text in TREE.items():
        encoding = "latin-1" if name == "latin.c" else "utf-8"
        (root / name).write_bytes(text.encode(encoding))
    return root


PATTERNS = [
    r"total", r"(?i)TOTAL", r"^def ", r"\($", r"^$", r"^\s*$", r"}", r"^-+$", r"needle in", r"x+n",
    r"[Tt]otal(_price)?\(", r"(?:pay|refunds?)\b", r"TODO:\s+\w+", r"caf.", r"größe", r"(?i)STRA",
    r"(?i)stra", r"∑ .", r"e$", r"\s", r"[^ ]", r"a|b", r"(?<!_)price", r"sum(?!\()", r"(\w)\1",
    r"0123456789abcdef0123", r"\bx", r"'''", r"\Aimport", r"2;\Z", r"(?>\s*)return", r"i\w*?s$",
    r"(?i)k'$", r"{", r"a{1}", r"it\w{2,3}\b", r"(?x) to tal # free", r"",
]  # fmt: skip


@pytest.mark.shows("ANSWER-RE", "ANSWER-RE-VERIFIED", "ANSWER-RE-UNCOVERED")
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("kept", [True, False], ids=["signatures", "none kept"])
def test_the_lane_finds_the_lines_that_grep_finds(tree: Path, pattern: str, kept: bool) -> None:
    assert wrong_pattern(pattern) is None
    found = look(MemoryReader(tree, kept=kept), Query(patterns=(pattern,)))
    assert found.complete
    assert lines_of(found) == grep(tree, pattern)


NAMES = ("total_price", "pay", "Total", "größe", "needle", "items", "nowhere", "b")


@pytest.mark.shows("ANSWER-VALUES")
@pytest.mark.parametrize("names", [NAMES, *[(name,) for name in NAMES], ("x" * 99, "pay")], ids=str)
def test_chunks_that_are_chosen_by_their_words_have_all_lines_that_grep_finds(
    tree: Path, names: tuple[str, ...]
) -> None:
    """`needle` is in a line that is split; a word of 99 characters has no postings."""
    pattern = rf"\b(?:{'|'.join(names)})\b[ (=]"
    reader: Any = MemoryReader(tree)
    query = Query(patterns=(pattern,))
    found = find_exact(query, reader.root, reader, reader.overlay(), everything, words=names)
    assert found.complete
    assert lines_of(found) == grep(tree, pattern)
    every = look(reader, query)
    assert found.hits == every.hits
    assert found.looked <= every.looked


atoms = st.sampled_from(
    ["a", "b", "A", "ab", "abc", "x", " ", "_", "-", ".", r"\w", r"\s", r"\d", "[ab]", "[^a]",
     "[Aa]", r"\b", "^", "$", "é", "(?:ab|x)", "(a|bc)", r"\.", "(?=b)", "(?!a)", "(?<=a)"]
)  # fmt: skip
pieces = st.tuples(atoms, st.sampled_from(["", "", "", "*", "+", "?", "{2}", "{1,2}", "*?"]))
patterns = st.tuples(
    st.sampled_from(["", "", "(?i)"]), st.lists(pieces, min_size=1, max_size=5), st.booleans()
).map(lambda made: made[0] + ("|" if made[2] else "").join(a + b for a, b in made[1]))
texts = st.lists(
    st.sampled_from(
        ["a", "b", "ab", "abc", "A", "x", " ", "_", "-", "\n", "\n\n", "é", "def a", "\r"]
    )
).map("".join)


@pytest.mark.shows("ANSWER-RE", "ANSWER-RE-VERIFIED")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@example(["a\n\r"], "a*")
@example(["\r\n\r", "a\n\n\r"], "^$")
@given(st.lists(texts, min_size=1, max_size=3), patterns)
def test_any_pattern_finds_what_grep_finds(
    tmp_path_factory: pytest.TempPathFactory, files: list[str], pattern: str
) -> None:
    if wrong_pattern(pattern) is not None:
        with pytest.raises(re.error):
            re.compile(pattern)
        return
    root = tmp_path_factory.mktemp("tree")
    for number, text in enumerate(files):
        (root / f"f{number}.py").write_text(text, encoding="utf-8", newline="")
    assert lines_of(look(MemoryReader(root), Query(patterns=(pattern,)))) == grep(root, pattern)


@pytest.mark.long
@pytest.mark.shows("ANSWER-TRIGRAMS")
def test_no_letter_that_a_pattern_takes_for_an_ascii_one_has_other_trigrams() -> None:
    """A pattern without regard to case takes U+017F for an s and U+212A for a k."""
    import regex

    every = "".join(map(chr, itertools.chain(range(0xD800), range(0xE000, sys.maxunicode + 1))))
    for code in range(128):
        letter = chr(code)
        for engine in (re, regex):
            alike: Any = engine.compile(engine.escape(letter), engine.IGNORECASE)
            for other in alike.findall(every):
                assert trigrams.folded(other) == trigrams.folded(letter), (letter, other)


def table_of_texts(held: list[str]) -> trigrams.Trigrams:
    """A table with one file for each text."""
    rows, width = trigrams.signatures(held), trigrams.WIDTH
    head = bytes((trigrams.TRIGRAMS_VERSION, 1))
    kept = [
        trigrams.KeptFile(
            n, f"{n}.py", "python", None, 1, head + rows[n * width : (n + 1) * width], b"\x90"
        )
        for n in range(len(held))
    ]
    return trigrams.Trigrams(kept)


SHORT_TEXTS = st.text("abcd", max_size=12)
NEEDS: st.SearchStrategy[Any] = st.recursive(
    st.builds(Literal, SHORT_TEXTS),
    lambda inner: st.one_of(
        st.builds(AllOf, st.lists(inner, max_size=3).map(tuple)),
        st.builds(AnyOf, st.lists(inner, max_size=3).map(tuple)),
    ),
    max_leaves=6,
)


def judged_alone(table: trigrams.Trigrams, row: int, need: Any) -> bool:
    """The same for one row, by its bits one after the other."""
    if isinstance(need, Literal):
        return all(table.rows[row, byte] & bit for byte, bit in trigrams._bits(need.text))
    several = [judged_alone(table, row, part) for part in need.needs]
    return all(several) if isinstance(need, AllOf) else any(several)


@given(st.lists(SHORT_TEXTS, min_size=1, max_size=6), NEEDS)
def test_rows_are_chosen_as_each_alone_would_be(held: list[str], need: Any) -> None:
    table = table_of_texts(held)
    expected = [judged_alone(table, row, need) for row in range(len(held))]
    assert table.maybe(need).tolist() == expected


@pytest.mark.shows("ANSWER-TRIGRAMS")
@given(st.lists(st.text(max_size=40), min_size=1, max_size=5), st.data())
def test_a_text_has_the_bits_of_every_part_of_its_lines(held: list[str], data: Any) -> None:
    table = table_of_texts(held)
    which = data.draw(st.integers(0, len(held) - 1))
    line = data.draw(st.sampled_from(held[which].split("\n")))
    start = data.draw(st.integers(0, len(line)))
    part = line[start : data.draw(st.integers(start, len(line)))]
    assert table.maybe(Literal(part))[which]


@pytest.mark.shows("ANSWER-TRIGRAMS")
def test_a_rare_string_leaves_few_chunks_to_look_at(tmp_path: Path) -> None:
    names = ["".join(name) for name in itertools.permutations("abcdefgh", 4)][:40]
    for n, word in enumerate(names):
        (tmp_path / f"m{n}.py").write_text(f"def {word}_handler(event):\n    return event.kind\n")
    found = look(MemoryReader(tmp_path), parse(rf"re:def\s+{names[39]}_handler\b").query)
    assert [hit.chunk.path for hit in found.hits] == ["m39.py"]
    assert found.looked < 5
    assert found.chunks == 40


@pytest.mark.shows("ANSWER-RE-BOUNDS")
@pytest.mark.parametrize("pattern", [r"(a|aa)+$", r"(.*)\1\1$", r"\s+$|(a|b|ab)*c$"])
def test_a_pattern_without_end_is_stopped_and_said_so(tmp_path: Path, pattern: str) -> None:
    for n in range(3):
        (tmp_path / f"f{n}.txt").write_text("word\n" + "ab" * 1_000 + "a" * 1_000 + "!\n")
    (tmp_path / "last.txt").write_text("aaaa\n")
    found = look(MemoryReader(tmp_path), Query(patterns=(pattern,)), seconds=60, text_seconds=0.05)
    assert not found.complete
    assert found.unjudged[0].startswith("f0.txt:")
    assert found.cut == "the pattern takes too long on too many texts"


@pytest.mark.shows("ANSWER-RE-BOUNDS")
def test_the_time_for_all_texts_is_bounded_too(tree: Path) -> None:
    ticks = itertools.count()
    found = look(
        MemoryReader(tree), Query(patterns=("a",)), seconds=5.0, clock=lambda: float(next(ticks))
    )
    assert found.cut == "the time limit of 5 s was reached"
    assert lines_of(found) < grep(tree, "a")


@pytest.mark.shows("ANSWER-RE-BOUNDS")
@pytest.mark.parametrize(("slow_s", "complete"), [(4.0, True), (60.0, False)])
def test_a_slow_store_does_not_use_up_the_time_for_matching(
    tree: Path, slow_s: float, complete: bool
) -> None:
    """Of a team's index, which may be far away, nothing was found in time."""
    now = [0.0]

    class Far(MemoryReader):
        def texts(self, ids: Iterable[ChunkId]) -> list[tuple[ChunkId, str]]:
            now[0] += slow_s
            return super().texts(ids)

    found = look(Far(tree), Query(patterns=("a",)), seconds=3.0, clock=lambda: now[0])
    assert found.complete == complete
    if complete:
        assert lines_of(found) == grep(tree, "a")


@pytest.mark.shows("ANSWER-RE-BOUNDS")
def test_a_string_that_is_everywhere_is_cut_and_said_so(tree: Path) -> None:
    found = look(MemoryReader(tree), Query(patterns=("",)), hits=2)
    assert (len(found.hits), found.cut) == (2, "the limit of 2 hits was reached")


@pytest.mark.shows("ANSWER-RE-BOUNDS")
@pytest.mark.parametrize(
    "pattern",
    ["a" * (PATTERN_CHARACTERS_MAX + 1), "((a{100}){100}){100}", "(", "[[:alpha:]]", r"\p{L}",
     "(" * 400 + ")" * 400],
)  # fmt: skip
def test_a_pattern_that_cannot_be_run_is_refused_in_words(pattern: str) -> None:
    assert wrong_pattern(pattern)


def test_a_judge_that_has_no_time_says_so() -> None:
    with pytest.raises(TooSlow):
        matcher("a").lines("text", 1.0, lambda: 2.0)


@pytest.mark.shows("ANSWER-RE")
def test_braces_that_count_nothing_are_braces() -> None:
    """Elsewhere `(ab){e<=1}` means `ab` with one error."""
    assert needs("ab{e<=1}") == Literal("ab{e<=1}")
    assert matcher("ab{e<=1}").lines("ab{e<=1}\nac", 1.0, lambda: 0.0)[0].end == 8
    assert len(matcher("ab{e<=1}").lines("ab{e<=1}\nac", 1.0, lambda: 0.0)) == 1


@pytest.mark.shows("ANSWER-RE")
@pytest.mark.parametrize(
    "pattern",
    ["ba{,}", "ba{,2}$", "ba{0,}c", "[a[:alpha:]]", "[^[:alpha:]]", r"[\]a[:x:]]", r"[\\[:a:]]",
     "[]a{]", "[a[.b.]]", "[x[=a=]]", r"\[[:a]"],
)  # fmt: skip
def test_a_pattern_means_what_it_means_in_python(pattern: str) -> None:
    """The engine that can be stopped knows classes in sets that the standard library does not."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            twin = re.compile(pattern, re.MULTILINE)
        except (re.error, FutureWarning):
            assert wrong_pattern(pattern) is not None
            return
    lines = [
        "b",
        "baa",
        "ba{,}c",
        "a]",
        "q]",
        "[a",
        "[:a",
        r"\]",
        "{",
        "]",
        "b.]",
        "=]",
        "x",
        "q",
        "",
    ]
    found = matcher(pattern).lines("\n".join(lines) + "\n", 1.0, lambda: 0.0)
    slow = [(n, *m.span()) for n, line in enumerate(lines) if (m := twin.search(line))]
    assert [(match.line, match.start, match.end) for match in found] == slow


@pytest.mark.shows("ANSWER-RE-UNCOVERED")
def test_a_file_that_is_gone_and_was_not_covered_is_named(tree: Path) -> None:
    reader = MemoryReader(tree)
    (tree / "wide.js").unlink()
    found = look(reader, Query(patterns=(r"var \w",)))
    assert found.unread == ["wide.js"]
    assert not found.complete
    assert ("wide.js", 2) in {line[:2] for line in lines_of(found)}


# must, exclude and sym


@pytest.mark.shows("ANSWER-MUST")
@pytest.mark.parametrize("text", ["total_price", "cart.", "prices.of(i)", "Cart", "größe", "TODO"])
def test_must_is_a_case_sensitive_string_in_name_path_or_text(tree: Path, text: str) -> None:
    reader = MemoryReader(tree)
    found = look(reader, Query(must=(text,)))
    slow = set()
    for path in reader.files:
        now = (tree / path).read_text("utf-8", "replace")
        for unit in exact.regions(path, "", now, reader.chunks_of(path)):
            if text in unit.text or text in path or text in (unit.label or ""):
                slow.add((path, unit.start_line))
    assert {(hit.chunk.path, hit.chunk.start_line) for hit in found.hits} == slow
    assert slow


@pytest.mark.shows("ANSWER-MUST")
def test_every_must_and_no_exclude(tree: Path) -> None:
    reader = MemoryReader(tree)
    both = look(reader, Query(must=("return", "total_price"), exclude=("TODO",)))
    assert {hit.chunk.label for hit in both.hits} == {"Cart"}
    assert look(reader, Query(must=("return", "total_price"), exclude=("cart.py",))).hits == []


@pytest.mark.shows("ANSWER-SYM")
def test_a_symbol_is_found_with_its_own_lines_though_its_chunk_is_the_class(tree: Path) -> None:
    reader = MemoryReader(tree)
    (hit,) = look(reader, Query(symbols=("total_price",))).hits
    assert (hit.chunk.label, hit.chunk.start_line, hit.chunk.end_line) == ("Cart.total_price", 7, 8)
    assert hit.chunk.text.startswith("    def total_price(self):")
    assert look(reader, Query(symbols=("Total",))).hits[0].chunk.path == "crlf.go"
    assert look(reader, Query(symbols=("Cart.*", "*price"))).hits == [hit]
    assert look(reader, Query(symbols=("total_price",), patterns=("TODO",))).hits == []


@pytest.mark.shows("ANSWER-SYM")
@pytest.mark.parametrize(
    ("asked", "qualified", "named"),
    [
        ("total", "Cart.total", True),
        ("Cart.total", "shop.Cart.total", True),
        ("art.total", "Cart.total", False),
        ("total", "Cart.Total", False),
        ("Cart::total", "shop.Cart.total", True),
        ("Cart#total", "Cart.total", True),
        ("to*", "Cart.total", True),
        ("Cart.*", "Cart.total", True),
        ("a[b]*", "a[b]c", True),
    ],
)
def test_a_symbol_is_named_by_the_end_of_its_name(asked: str, qualified: str, named: bool) -> None:
    assert names_symbol(asked, qualified) is named


@pytest.mark.shows("ANSWER-SYM")
@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("Ärger", "Ärger"),
        ("Ä*", "Ärger"),
        ("Ärger.Öffnen", "Ärger.Öffnen"),
        ("ΣΊΣΥΦΟΣ", "ΣΊΣΥΦΟΣ"),
        ("İstanbul", "İstanbul"),
        ("Ärger/Öffnen", "Ärger.Öffnen"),
        ("Ärger::Öffnen", "Ärger.Öffnen"),
        ("ärger", None),
        ("\ud800", None),
    ],
)
def test_a_symbol_in_any_alphabet_is_found_by_its_name(
    tmp_path: Path, asked: str, found: str | None
) -> None:
    """A capital letter beyond ASCII was put in lower case on one side only."""
    (tmp_path / "a.py").write_text(
        "class Ärger:\n    def Öffnen(self):\n        return 1\n\n\n"
        "def ΣΊΣΥΦΟΣ():\n    return 2\n\n\ndef İstanbul():\n    return 3\n",
        encoding="utf-8",
    )
    hits = look(MemoryReader(tmp_path), Query(symbols=(asked,))).hits
    expected = {found} if found else set()
    assert {hit.chunk.label for hit in hits if "*" not in asked} <= expected
    assert expected <= {hit.chunk.label for hit in hits}


names_asked = st.lists(
    st.sampled_from(["Ä", "ä", "b", "B", "ß", "_", "İ", "\u017f", "K"]), min_size=1, max_size=4
).map("".join)


@pytest.mark.shows("ANSWER-SYM")
@given(st.lists(names_asked, min_size=1, max_size=4, unique=True), names_asked, st.booleans())
def test_names_that_are_kept_never_deny_a_symbol(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], asked: str, star: bool
) -> None:
    """The twin holds the asked name against every symbol of every file."""
    root = tmp_path_factory.mktemp("tree")
    text = "".join(f"def f{name}():\n    return 1\n\n\n" for name in names)
    (root / "a.py").write_text(text, encoding="utf-8")
    reader = MemoryReader(root)
    asked = f"f{asked}*" if star else f"f{asked}"
    kept = trigrams.names_of(reader.files["a.py"].facts)
    slow = {name.qualified for name in kept if names_symbol(asked, name.qualified)}
    hits = look(reader, Query(symbols=(asked,))).hits
    assert {hit.chunk.label for hit in hits} == slow


@pytest.mark.shows("ANSWER-RE")
@pytest.mark.parametrize(
    "pattern",
    ["abc$", "c$", r"^c\w*$", "(?-m:^def)", r"(?-m:\)$)", r"(?:a|(?-m:^def))", "(?s)d.+r"],
)
def test_ends_of_lines_are_found_wherever_the_line_stands(tmp_path: Path, pattern: str) -> None:
    """A last line with a carriage return and no break, and anchors that are told to mean the text:
    many texts are searched at once, where an end of a line is not the end of the text."""
    (tmp_path / "a.py").write_bytes(b"abc = 1\ndef foo():\n    return abc\r")
    (tmp_path / "b.py").write_bytes(b"def bar():\n    return cab\n\n\ndef end():\n    return (1)\n")
    assert wrong_pattern(pattern) is None
    found = look(MemoryReader(tmp_path), Query(patterns=(pattern,)))
    assert lines_of(found) == grep(tmp_path, pattern)


@pytest.mark.shows("ANSWER-OPERATOR-WRONG")
@pytest.mark.parametrize(
    ("pattern", "wrong"),
    [(r"def\n", True), ("a\nb", True), (r"(?:a\n|\nb)c", True), (r"a\n?b", False), (r"a\s", False)],
)
def test_a_pattern_that_no_line_can_match_is_pointed_out(pattern: str, wrong: bool) -> None:
    """Patterns are matched line by line, so `def\\n` would find nothing, in silence."""
    said = wrong_pattern(pattern)
    assert (said is not None and "line by line" in said) is wrong


def test_patterns_read_in_two_threads_leave_warnings_as_they_were(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two threads that each make errors of warnings for a moment may leave them so for good."""
    from re import _parser  # type: ignore[attr-defined]

    parse_it = _parser.parse
    second_reads, first_read = threading.Event(), threading.Event()

    def slowly(pattern: str, flags: int) -> Any:
        if pattern == "first":
            second_reads.wait(0.3)
        else:
            second_reads.set()
            first_read.wait(0.3)
        return parse_it(pattern, flags)

    def read(pattern: str) -> None:
        wrong_pattern(pattern)
        if pattern == "first":
            first_read.set()

    monkeypatch.setattr(_parser, "parse", slowly)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        before = list(warnings.filters)
        threads = [threading.Thread(target=read, args=(name,)) for name in ("first", "second")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
        assert list(warnings.filters) == before
